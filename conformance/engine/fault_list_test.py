#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that docs/engine-faults.md names is there, and is built.

Run: fault_list_test.py SOURCE_ROOT [UNITTEST_ARGUMENTS...]
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
DOCUMENT = ROOT / 'docs/engine-faults.md'
CASE = re.compile(r'^\s*TEST(?:_F|_P)?\((\w+), (\w+)\)', re.M)
GIVEN = ('wrapper', 'lost mid-decode', 'SIGKILL', 'full disk', 'torn segment', 'flipped bits', 'another model', 'zero',
         'larger than the machine', 'changes at run time', '100 concurrent', 'out of memory', 'NaN', 'one token', 'million',
         'block sizes', '32 bits', 'two engines', 'fork()')  # what issue and mission ask for


def rows():
    for line in DOCUMENT.read_text(encoding='utf-8').splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if line.startswith('| ') and len(cells) == 3 and cells[0] != 'what goes wrong':
            yield cells


def cases():
    """SUITE.NAME of every test of the engine whose file its meson.build names."""
    found = set()
    for build in (ROOT / 'core/engine').glob('*/meson.build'):
        built = build.read_text(encoding='utf-8')
        for source in build.parent.glob('*_test.cpp'):
            if f"'{source.name}'" in built:
                found.update(f'{suite}.{name}' for suite, name in CASE.findall(source.read_text(encoding='utf-8')))
    return found


class FaultList(unittest.TestCase):
    def test_every_row_names_tests_that_are_there(self):
        known, campaign = cases(), (ROOT / 'conformance/engine/main.cpp').read_text(encoding='utf-8')
        self.assertGreater(len(known), 100)
        for fault, outcome, tests in rows():
            names = re.findall(r'`([^`]+)`', tests)
            self.assertTrue(names and outcome, f'{fault}: no test')
            for name in names:
                if name.startswith('kv-campaign'):
                    for option in re.findall(r'--[a-z]+', name):
                        self.assertIn(f'"{option}"', campaign, name)
                else:
                    self.assertIn(name, known, f'{fault}: {name} is no test of core/engine that is built')

    def test_nothing_that_was_asked_for_is_missing(self):
        faults = [fault for fault, _, _ in rows()]
        for word in GIVEN:
            self.assertTrue(any(word in fault for fault in faults), f'no row of "{word}"')
        self.assertEqual(len(faults), len(set(faults)))


if __name__ == '__main__':
    unittest.main()
