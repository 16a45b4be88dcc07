#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py lets a sound tree pass and refuses each fault, planted one at a time.

  check_test.py C_COMPILER...
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name('check.py')
COMPILER = sys.argv[1:] or ['cc']
ONE = 'int hbf_plugin_query(void) { return 0; }'
LIBRARY = 'int _ZN3hbf7versionEv(void) { return 0; }'
PLUGIN = 'lib/hbf/plugins/one.so'


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name) / 'tree'
        self.source = pathlib.Path(folder.name) / 'source.c'
        self.link(PLUGIN, ONE)
        self.link('lib/libhbf.so.0', LIBRARY, '-Wl,-soname,libhbf.so.0')

    def link(self, name, text, *options, shared=True):
        out = self.top / name
        out.parent.mkdir(parents=True, exist_ok=True)
        self.source.write_text(text, encoding='utf-8')
        kind = ['-shared', '-fPIC'] if shared else []
        subprocess.run([*COMPILER, *kind, '-s', '-Wl,--enable-new-dtags', self.source, *options, '-o', out], check=True)
        return out

    def check(self, *options):
        os.umask(0o022)
        done = subprocess.run([sys.executable, CHECK, *options, self.top], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def refused(self, words, *options):
        code, said = self.check(*options)
        self.assertEqual(code, 1, said)
        self.assertIn(words, said)

    def test_a_sound_tree_passes(self):
        self.link('bin/run', 'int _ZN3hbf7versionEv(void); int main(void) { return _ZN3hbf7versionEv(); }',
                  self.top / 'lib/libhbf.so.0', '-Wl,-rpath,$ORIGIN/../lib', shared=False)
        (self.top / 'lib/libhbf.so').symlink_to('libhbf.so.0')
        code, said = self.check()
        self.assertEqual(code, 0, said)
        self.assertIn('3 programs and libraries', said)

    def test_a_library_that_is_not_there(self):
        self.link('bin/run', 'int _ZN3hbf7versionEv(void); int main(void) { return _ZN3hbf7versionEv(); }',
                  self.top / 'lib/libhbf.so.0', shared=False)
        self.refused('bin/run: needs libhbf.so.0')

    def test_a_library_of_the_machine(self):
        self.link(PLUGIN, ONE, '-Wl,--no-as-needed', '-lgcc_s')
        self.refused('needs libgcc_s.so.1')

    def test_an_absolute_run_path(self):
        self.link(PLUGIN, ONE, '-Wl,-rpath,/opt/lib')
        self.refused('looks for libraries in /opt/lib')

    def test_a_run_path_that_leaves_the_tree(self):
        self.link(PLUGIN, ONE, '-Wl,-rpath,$ORIGIN/../../../../lib')
        self.refused('outside the tree')

    def test_an_rpath(self):
        self.link(PLUGIN, ONE, '-Wl,--disable-new-dtags,-rpath,$ORIGIN')
        self.refused('has an RPATH')

    def test_a_second_export_of_a_plugin(self):
        self.link(PLUGIN, ONE + 'void _ZNSt6vectorIiED1Ev(void) {}')
        self.refused('not hbf_plugin_query alone')

    def test_a_symbol_of_the_standard_library(self):
        self.link('lib/libhbf.so.0', LIBRARY + 'void _ZNSt6vectorIiED1Ev(void) {}')
        self.refused('such as _ZNSt6vectorIiED1Ev')

    def test_a_newer_glibc(self):
        self.link(PLUGIN, '#include <stdlib.h>\n' + ONE + '__attribute__((used)) static void *p(void) { return malloc(1); }')
        self.assertEqual(self.check('--glibc', '2.36')[0], 0)
        self.refused('newer than 2.1', '--glibc', '2.1')

    def test_a_folder_it_was_built_in(self):
        (self.top / 'lib/hbf.pc').write_text('prefix=/home/someone/build\n', encoding='utf-8')
        self.refused('names the folder', '--built-in', '/home/someone')
        self.link(PLUGIN, ONE + 'const char *where(void) { return "/home/someone/source.c"; }')
        self.refused('one.so: names the folder', '--built-in', '/home/someone')

    def test_a_library_with_its_debugging_part(self):
        out = self.top / PLUGIN
        subprocess.run([*COMPILER, '-shared', '-fPIC', '-g', self.source, '-o', out], check=True)
        self.refused('is not stripped')

    def test_an_executable_stack(self):
        self.link(PLUGIN, ONE, '-Wl,-z,execstack')
        self.refused('executable stack')

    def test_a_link_out_of_the_tree(self):
        (self.top / 'lib/away').symlink_to('/etc/passwd')
        self.refused('is a link to /etc/passwd')

    def test_a_file_that_others_may_write(self):
        (self.top / PLUGIN).chmod(0o777)
        self.refused('has mode 0777')

    def test_an_empty_tree(self):
        (self.top / PLUGIN).unlink()
        (self.top / 'lib/libhbf.so.0').unlink()
        self.refused('no program and no library')


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]])
