#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one fault for each rule of check_rules.py and expects it, and only it, to be found."""

import pathlib
import tempfile
import unittest

import check_rules

SPDX = '// SPDX-License-Identifier: Apache-2.0\n'


class Rules(unittest.TestCase):
    def found(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            return [(number, what) for _, number, what in check_rules.check(pathlib.Path(folder), name)]

    def expect(self, name, text, number, words):
        found = self.found(name, text)
        self.assertEqual(len(found), 1, found)
        self.assertEqual(found[0][0], number)
        self.assertIn(words, found[0][1])

    def test_good_files_pass(self):
        self.assertEqual(self.found('core/a.cpp', SPDX + 'int a; // amd64 and whip are no vendors\n'), [])
        self.assertEqual(self.found('core/host/a_test.cpp', SPDX + '// intel_iommu=on\n'), [])
        self.assertEqual(self.found('plugins/a/a.cpp', SPDX + '// CUDA may be named here\n'), [])
        self.assertEqual(self.found('tools/a.py', '#!/usr/bin/env python3\n' + SPDX.replace('//', '#')), [])
        self.assertEqual(self.found('a.md', '| ' + 'wide ' * 40 + '|\n'), [])

    def test_license(self):
        self.expect('core/a.cpp', 'int a;\n', 1, 'SPDX')

    def test_length(self):
        self.expect('core/a.cpp', SPDX + '\n' * 500, 501, 'the limit is 500')
        self.assertEqual(self.found('core/a.cpp', SPDX + '\n' * 499), [])

    def test_width_counts_characters_and_not_bytes(self):
        self.expect('core/a.cpp', SPDX + '/' * 126 + '\n', 2, '126 characters wide')
        self.assertEqual(self.found('core/a.cpp', SPDX + '//' + 'é' * 123 + '\n'), [])

    def test_blanks(self):
        self.expect('core/a.cpp', SPDX + 'int a; \n', 2, 'blanks')
        self.expect('core/a.cpp', SPDX + 'int\ta;\n', 2, 'tab')
        self.expect('core/a.cpp', SPDX + 'int a;', 2, 'no newline')

    def test_marks(self):
        self.expect('docs/a.md', 'later\n' + 'TO' + 'DO: finish\n', 2, 'finish it')

    def test_vendors(self):
        for vendor in ('Nvidia', 'AMD', 'hip', 'MLU', 'level_zero'):
            self.expect('core/a.cpp', SPDX + f'// for {vendor} only\n', 2, 'names a vendor')
        self.expect('core/a.cpp', SPDX + 'int cuda_device;\n', 2, 'names a vendor')

    def test_encoding(self):
        self.expect('core/a.cpp', SPDX.encode() + b'// \xff\n', 1, 'UTF-8')


if __name__ == '__main__':
    unittest.main()
