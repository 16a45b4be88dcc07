# SPDX-License-Identifier: Apache-2.0
"""compile.py says no where it must: to a kernel that does not compile, a table that is wrong, a compiler that is none."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compile as compilers  # noqa: E402
import embed  # noqa: E402


class Copy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / 'kernels' / 'device'
        self.folder.mkdir(parents=True)
        for name in ['portable.h', 'twin.hpp', 'copy.h']:
            shutil.copy(HERE / name, self.folder)
        self.table = self.folder / 'table.inc'
        self.table.write_text('KERNEL(copy, 1, needs_nothing, READS, WRITES)\n')
        self.kernels = compilers.Kernels(self.table)

    def plant(self, old: str, new: str):
        path = self.folder / 'copy.h'
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def refused(self, one, *words: str):
        try:
            one(self.kernels)
        except compilers.Absent as reason:
            self.skipTest(str(reason))
        except compilers.Failed as reason:
            for word in words:
                self.assertIn(word, str(reason))
        else:
            self.fail('accepted')

    def test_a_call_that_opencl_does_not_have(self):
        self.plant('dst[i] = src[i]', 'dst[i] = memcpy_of(src[i])')
        line = (self.folder / 'copy.h').read_text()[:(self.folder / 'copy.h').read_text().index('memcpy_of')].count('\n') + 1
        self.refused(compilers.check_opencl, f'copy.h:{line}:', 'memcpy_of')

    def test_what_only_opencl_3_has(self):
        self.plant('dst[i] = src[i]',
                   'atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)')
        self.refused(compilers.check_opencl, 'copy.h')

    def test_a_warning(self):
        self.plant('const uint64_t words', 'const uint64_t unused = 0, words')
        self.refused(lambda kernels: compilers.check_host(['g++', 'clang++'], kernels), 'unused')

    def test_a_kernel_that_is_not_in_the_image(self):
        with self.assertRaisesRegex(compilers.Failed, 'no kernel copy'):
            compilers.verify('sm_90', self.kernels, b'\x7fELF.text.copier\0')
        with self.assertRaisesRegex(compilers.Failed, 'no kernel copy'):
            compilers.verify('spirv', self.kernels, b'\x03\x02\x23\x07recopy1\0')
        with self.assertRaisesRegex(compilers.Failed, 'something else'):
            compilers.verify('gfx942', self.kernels, b'BC\xc0\xde')

    def test_tables_that_are_wrong(self):
        for text, words in [('KERNEL(copy, 1, READS)\n', 'table.inc:1: not KERNEL'),
                            ('KERNEL(copy, 1, a, READS)\n' * 2, 'table.inc:2: copy is there twice'),
                            ('\n', 'no kernel in it'),
                            ('KERNEL(copies, 1, a, READS)\n', 'copies.h: No such file')]:
            self.table.write_text(text)
            done = self.run_script('embed.py', '--output', str(self.folder / 'out'))
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / 'out').exists())

    def test_what_only_the_host_sees_is_not_in_the_text(self):
        path = self.folder / 'copy.h'
        path.write_text(path.read_text() +
                        '#ifdef HBF_ON_HOST\n#ifdef A\n#endif\ntemplate <class T> int sample;\n#endif\nint z;\n')
        text = '\n'.join(embed.flatten(path, set()))
        self.assertNotIn('sample', text)
        self.assertIn('int z;', text)

    def test_targets_and_compilers_that_are_none(self):
        output = self.folder / 'image'
        done = self.run_script('compile.py', '--target', 'z80', '--output', str(output))
        self.assertEqual((done.returncode, done.stderr), (1, 'z80: not a target: sm_NN, gfxNNN or spirv\n'))
        done = self.run_script('compile.py', '--target', 'sm_90', '--output', str(output), NVCC='/nowhere/nvcc')
        self.assertEqual((done.returncode, done.stderr), (1, 'sm_90: /nowhere/nvcc (from NVCC) is no program\n'))
        self.assertFalse(output.exists())

    def test_the_kernel_of_the_documentation(self):
        document = (HERE.parent.parent / 'docs' / 'internals.md').read_text()
        blocks = re.findall(r'```c\n(.*?)```', document[document.index('## Adding a device kernel'):], re.DOTALL)
        self.assertEqual(len(blocks), 2, 'the file and the line')
        (self.folder / 'flip.h').write_text(blocks[0])
        self.table.write_text(blocks[1])
        kernels = compilers.Kernels(self.table)
        self.assertEqual(kernels.names, ['flip'])
        for check in [compilers.check_opencl, lambda these: compilers.check_host(['g++', 'clang++'], these)]:
            try:
                check(kernels)
            except compilers.Absent as reason:
                print(f'not tried: {reason}')
        # The catalogue with it: nothing else needs to be told.
        shutil.copy(HERE / 'catalogue.cpp', self.folder)
        shutil.copy(HERE / 'catalogue.hpp', self.folder)
        self.assertEqual(self.run_script('embed.py', '--output', str(self.folder / 'device_kernels.inc')).returncode, 0)
        compilers.run(compilers.tool('', 'g++', 'clang++'), '-std=c++20', '-fsyntax-only', *compilers.STRICT,
                      '-I', str(self.folder.parent.parent), '-I', str(HERE.parent.parent / 'core' / 'include'),
                      str(self.folder / 'catalogue.cpp'))

    def run_script(self, name: str, *arguments: str, **environment: str):
        return subprocess.run([sys.executable, str(HERE / name), str(self.table), *arguments], capture_output=True,
                              text=True, check=False, env={**os.environ, **environment})


if __name__ == '__main__':
    unittest.main()
