# SPDX-License-Identifier: Apache-2.0
"""hbf plugin as authors meet it: what new writes and refuses, and what check says of good, bad and hostile files.

Run: plugin_cli_test.py HBF GOOD_PLUGIN CHAMELEON MISSING_DEPENDENCY CC SOURCE
GOOD_PLUGIN is the template, built; CHAMELEON misbehaves as its file name says.
"""
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HBF, GOOD, CHAMELEON, MISSING = (os.path.abspath(path) for path in sys.argv[1:5])
CC, SOURCE = shlex.split(sys.argv[5]), os.path.abspath(sys.argv[6])

MANIFEST = '''format = 1
name = "{name}"
vendor = "{vendor}"
version = "{version}"
library = "{library}"
abi_min = "{abi_min}"
abi_max = "{abi_max}"
kind = "{kind}"
'''


class PluginTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-plugin-')
        self.addCleanup(self.folder.cleanup)
        # meson test names the build's own folders in LD_LIBRARY_PATH: nothing would be missing.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'LD_LIBRARY_PATH'}
        self.env.update(HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name,
                        NO_COLOR='1', HBF_PROBE_TIMEOUT='2')

    def run_hbf(self, *arguments, **options):
        return subprocess.run([HBF, 'plugin', *arguments], env=self.env, cwd=self.folder.name, capture_output=True,
                              text=True, timeout=120, check=False, **options)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text, mode='w'):
        with open(self.path(name), mode) as file:
            file.write(text)
        return self.path(name)


class New(PluginTest):
    def test_a_project_is_complete_and_named_throughout(self):
        done = self.run_hbf('new', 'acme', '--vendor', "O'Neill & Sons", '--kind', 'emulation')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('cd acme', done.stdout)
        found = {os.path.relpath(os.path.join(where, file), self.path('acme'))
                 for where, _, files in os.walk(self.path('acme')) for file in files}
        self.assertLessEqual({'meson.build', 'plugin.toml.in', 'ci.sh', 'README.md', 'LICENSE', '.clang-format',
                              '.gitignore', '.github/workflows/ci.yml', 'src/plugin.cpp', 'tests/meson.build'}, found)
        for name in found:
            with open(self.path(os.path.join('acme', name)), encoding='utf-8') as file:
                self.assertNotRegex(file.read(), '@[A-Z_]+@', name)
        with open(self.path('acme/meson.build'), encoding='utf-8') as file:
            text = file.read()
        self.assertIn("project('acme'", text)
        self.assertIn(r"'vendor': 'O\'Neill & Sons'", text)
        self.assertIn("'kind': 'emulation'", text)
        self.assertTrue(os.stat(self.path('acme/ci.sh')).st_mode & stat.S_IXUSR)
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith('.acme')], [])

    def test_bad_names_are_explained(self):
        for name, why in (('Acme', 'lower-case'), ('a b', 'lower-case'), ('../x', 'lower-case'), ('a' * 40, 'at most 30'),
                          ('host', 'comes with HBF')):
            done = self.run_hbf('new', name)
            self.assertEqual((done.returncode, done.stdout), (2, ''), name)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.run_hbf('new', 'acme', '--vendor', 'a"b').returncode, 2)
        self.assertEqual(self.run_hbf('new', 'acme', '--kind', 'chip').returncode, 2)
        self.assertEqual(self.run_hbf('new').returncode, 2)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_folder_that_is_there_is_left_alone(self):
        os.mkdir(self.path('acme'))
        self.write('acme/mine', 'mine')
        done = self.run_hbf('new', 'acme')
        self.assertEqual(done.returncode, 3)
        self.assertIn('is there already', done.stderr)
        self.assertEqual(os.listdir(self.path('acme')), ['mine'])
        self.assertEqual(self.run_hbf('new', 'acme', '--dir', self.path('other/')).returncode, 0)
        self.assertTrue(os.path.isfile(self.path('other/meson.build')))
        done = self.run_hbf('new', 'acme', '--dir', self.path('no/such/folder'))
        self.assertEqual(done.returncode, 3)
        self.assertIn('is no folder; remedy: make it first', done.stderr)

    def test_a_folder_that_cannot_be_written_to_gets_nothing(self):
        os.mkdir(self.path('closed'), mode=0o500)
        if os.access(self.path('closed'), os.W_OK):
            done = self.run_hbf('new', 'acme', '--dir', '/proc/acme')  # root may write anywhere but here
        else:
            done = self.run_hbf('new', 'acme', '--dir', self.path('closed/acme'))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, 'Permission denied|No such file|not permitted')
        self.assertEqual(os.listdir(self.path('closed')), [])


class Check(PluginTest):
    def check(self, path, code, *arguments):
        done = self.run_hbf('check', path, '--json', *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document['schema_version'], 1)
        return document

    def findings(self, path, code):
        plugin, = self.check(path, code)['plugins']
        self.assertEqual(plugin['verdict'], {0: 'pass', 1: 'fail', 3: 'cannot tell'}[code])
        for check in plugin['checks']:
            self.assertEqual(check['remedy'] is None, check['verdict'] == 'pass', check)
            self.assertTrue(check['evidence'], check)
        return {(c['check'], c['verdict']): c for c in plugin['checks']}

    def install(self, stem, source=CHAMELEON, **values):
        library = stem + '.so'
        if source != self.path(library):
            shutil.copy(source, self.path(library))
        defaults = dict(name=stem, vendor='Test', version='1.9.0', library=library, abi_min='0.1', abi_max='0.1',
                        kind='device')
        self.write(stem + '.plugin.toml', MANIFEST.format(**(defaults | values)))
        return self.path(library)

    def failed(self, name, check, rule, evidence, code=1, source=CHAMELEON, **values):
        found = self.findings(self.install(name, source, **values), code)
        verdict = 'fail' if code == 1 else 'cannot tell'
        self.assertIn((check, verdict), found)
        self.assertEqual(found[check, verdict]['rule'], rule)
        self.assertRegex(found[check, verdict]['evidence'], evidence)
        return found

    def template(self, **values):
        good = dict(name='template', vendor='Example', version='0.1.0')
        return self.install('hbf_plugin_template', GOOD, **(good | values))

    def test_a_good_one_passes_by_library_manifest_and_folder(self):
        library = self.template()
        found = self.findings(library, 0)
        for check in ('file.elf', 'file.exports', 'file.stays', 'file.binds_at_load', 'file.search_path', 'file.libraries',
                      'file.stack', 'file.sanitizer', 'manifest.valid', 'manifest.abi', 'manifest.kind', 'files.trust',
                      'load.quiet', 'host.serves', 'probe.time', 'table.facts', 'table.sizes', 'table.name', 'table.version',
                      'table.vendor', 'table.abi'):
            self.assertIn((check, 'pass'), found)
        self.assertIn('template0 with 1 tier', found['host.serves', 'pass']['evidence'])
        self.assertIn('hbf.tier/1', found['table.sizes', 'pass']['evidence'])
        self.assertEqual(self.findings(self.path('hbf_plugin_template.plugin.toml'), 0).keys(), found.keys())
        self.assertEqual(len(self.check(self.folder.name, 0)['plugins']), 1)
        done = self.run_hbf('check', library)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r'pass +HBF-ABI-1 +file\.exports +hbf_plugin_query and nothing else')
        self.assertRegex(done.stdout, r'PASS: \d+ pass, 0 warn, 0 fail, 0 cannot tell')

    def test_files_that_are_no_plugins(self):
        with open(GOOD, 'rb') as file:
            good = file.read()
        other = bytearray(good)
        other[18] = 243  # riscv
        for content, evidence in ((b'not an ELF file\n', 'no ELF magic'), (b'', 'empty'), (good[:200], 'truncated'),
                                  (good[:len(good) // 2], 'truncated'), (bytes(other), 'built for riscv')):
            found = self.findings(self.write('hbf_plugin_x.so', content, 'wb'), 1)
            self.assertIn(evidence, found['file.elf', 'fail']['evidence'])
            self.assertIn('none of its code was run', found['host.serves', 'cannot tell']['evidence'])

    def test_constructors_that_crash_hang_exit_print(self):
        self.failed('constructor_segv', 'load.quiet', 'HBF-LIFE-1', 'ended by SIGSEGV')
        self.failed('constructor_exit0', 'load.quiet', 'HBF-LIFE-1', 'ended the process that loaded it, with status 0')
        self.failed('constructor_hang', 'load.quiet', 'HBF-LIFE-1', 'did not end within 2 s')
        self.failed('constructor_chatter', 'load.quiet', 'HBF-LIFE-9', 'printed 23 bytes.*a word from the driver')
        self.failed('missing_dependency', 'load.quiet', 'HBF-LIFE-2', 'hostile-absent', source=MISSING)

    def test_what_the_loader_refuses_is_told_with_its_rule(self):
        self.failed('probe_segv', 'host.serves', 'HBF-LIFE-1', 'crashed with SIGSEGV in probe')
        self.failed('query_newer', 'host.serves', 'HBF-ABI-3', 'abi_too_new')
        self.failed('query_short', 'host.serves', 'HBF-ABI-1', 'its table says 32 bytes')
        self.failed('create_error', 'host.serves', 'HBF-LIFE-6', 'no memory left')

    def test_a_machine_without_its_device_is_never_a_pass(self):
        library = self.path('in_c.so')
        subprocess.run([*CC, '-std=c11', '-shared', '-fPIC', '-o', library, SOURCE + '/packaging/plugin_in_c.c',
                        f'-I{SOURCE}/core/include', '-Wl,-z,nodelete', '-Wl,-z,now',
                        f'-Wl,--version-script={SOURCE}/plugins/sdk/plugin.map'], check=True)
        found = self.failed('in_c', 'host.serves', 'HBF-LIFE-4', 'no_device', code=3, source=library, version='0.1.0')
        self.assertIn(('load.quiet', 'pass'), found)
        self.assertIn(('table.name', 'pass'), found)
        done = self.run_hbf('check', library)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r'CANNOT TELL: \d+ pass, 1 warn, 0 fail, 1 cannot tell')

    def test_manifest_and_library_that_disagree(self):
        self.template(version='0.2.0', vendor='Other')
        found = self.findings(self.path('hbf_plugin_template.so'), 1)
        self.assertIn('the manifest says version "0.2.0", the library "0.1.0"', found['table.version', 'fail']['evidence'])
        self.assertIn(('table.vendor', 'warn'), found)
        self.template(name='other')
        found = self.findings(self.path('hbf_plugin_template.so'), 1)
        self.assertIn('manifest_invalid', found['host.serves', 'fail']['evidence'])
        self.template(kind='emulation')
        found = self.findings(self.path('hbf_plugin_template.so'), 1)
        self.assertEqual(found['manifest.kind', 'fail']['rule'], 'HBF-SEL-2')
        self.template(abi_min='0.9', abi_max='0.9')
        found = self.findings(self.path('hbf_plugin_template.so'), 1)
        self.assertIn('this core 0.1 to 0.1', found['manifest.abi', 'fail']['evidence'])

    def test_manifests_that_are_wrong(self):
        library = self.template()
        manifest = self.path('hbf_plugin_template.plugin.toml')
        with open(manifest, encoding='utf-8') as file:
            good = file.read()
        self.write(manifest, good + 'prioritty = 3\n')
        found = self.findings(library, 0)
        self.assertIn('did you mean "priority"', found['manifest.valid', 'warn']['evidence'])
        for text, evidence in (('name = [', 'plugin.toml:1'), ('x' * 70000, 'larger than 65536 bytes'),
                               ('', 'empty manifest'), (good.replace('format = 1', 'format = 2'), ':1:')):
            self.write(manifest, text)
            found = self.findings(manifest, 1)
            self.assertIn(evidence, found['manifest.valid', 'fail']['evidence'])
        self.write(manifest, good.replace('template.so', 'gone.so'))
        found = self.findings(manifest, 1)
        self.assertIn('which is not there', found['file.elf', 'fail']['evidence'])
        os.remove(manifest)
        found = self.findings(library, 1)
        self.assertIn('no manifest beside', found['manifest.valid', 'fail']['evidence'])
        self.assertIn(('table.facts', 'pass'), found)  # it is looked at all the same

    def test_files_that_others_can_change_are_not_run(self):
        library = self.template()
        os.chmod(library, 0o777)
        found = self.findings(library, 1)
        self.assertEqual(found['files.trust', 'fail']['rule'], 'HBF-SEC-1')
        self.assertIn('chmod', found['files.trust', 'fail']['remedy'])
        self.assertNotIn(('load.quiet', 'pass'), found)

    def build(self, source, *flags):
        self.write('x.c', source)
        library = self.path('x.so')
        done = subprocess.run([*CC, '-shared', '-fPIC', '-o', library, self.path('x.c'), *flags], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return library

    def test_what_the_linker_left(self):
        entry = 'const void *hbf_plugin_query(void) { return 0; }\n'
        library = self.build(entry + 'int helper(void) { return 1; }\n', '-Wl,-z,lazy', '-Wl,-rpath,/opt/acme',
                             '-Wl,-z,execstack')
        found = self.findings(library, 1)
        self.assertIn('1 other symbols are exported: helper', found['file.exports', 'fail']['evidence'])
        self.assertEqual(found['file.stays', 'fail']['rule'], 'HBF-LIFE-3')
        self.assertEqual(found['file.binds_at_load', 'fail']['rule'], 'HBF-LIFE-3')
        self.assertIn('/opt/acme', found['file.search_path', 'fail']['evidence'])
        self.assertIn('executable stack', found['file.stack', 'fail']['evidence'])

    def test_drivers_that_are_linked(self):
        entry = 'int f(void);\nconst void *hbf_plugin_query(void) { return f() ? 0 : 0; }\n'
        for name, verdict in (('libcuda.so.1', 'fail'), ('libsomething.so.3', 'warn')):
            self.write('f.c', 'int f(void) { return 1; }\n')
            driver = self.path(name)
            subprocess.run([*CC, '-shared', '-fPIC', '-o', driver, '-Wl,-soname,' + name, self.path('f.c')], check=True)
            found = self.findings(self.build(entry, driver), 1)
            self.assertIn(name, found['file.libraries', verdict]['evidence'])

    def test_paths_that_name_no_plugin(self):
        for path, why in ((self.path('none.so'), 'No such file'), (self.folder.name, 'no plugin in this folder')):
            done = self.run_hbf('check', path)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn(why, done.stderr)
        self.assertEqual(self.run_hbf('check').returncode, 2)
        self.assertEqual(self.run_hbf('check', '/dev/null').returncode, 2)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
