#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How run_tests.py counts: every case, and every way of failing that a count of cases alone would hide."""

import pathlib
import tempfile
import unittest

import run_tests

CASES = '''<testsuites><testsuite name="S">
<testcase classname="S" name="passes" status="run" result="completed"/>
<testcase classname="S" name="skips" status="run" result="skipped"><skipped message="no device"/></testcase>
<testcase classname="S" name="filtered" status="notrun" result="suppressed"/>
{more}</testsuite></testsuites>'''
FAILS = '<testcase classname="S" name="fails" status="run" result="completed"><failure message="1 != 2"/></testcase>'


class Count(unittest.TestCase):
    def count(self, result, more=None, code=0):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, 'core x.xml')
            if more is not None:
                report.write_text(CASES.format(more=more), encoding='utf-8')
            tally, said = run_tests.count([{'name': 'hbf:core / core x', 'result': result, 'returncode': code}],
                                          {'core x': report})
            return run_tests.closing_line(tally), said

    def test_cases_are_counted_and_filtered_ones_are_not(self):
        self.assertEqual(self.count('OK', ''), ('1 passed, 0 failed, 1 skipped', []))

    def test_a_failed_case_is_named(self):
        self.assertEqual(self.count('FAIL', FAILS, 1), ('1 passed, 1 failed, 1 skipped', ['core x: S.fails']))

    def test_a_leak_found_after_the_last_case_is_a_failure(self):
        line, said = self.count('FAIL', '', 23)
        self.assertEqual(line, '1 passed, 1 failed, 1 skipped')
        self.assertIn('after its last case, exit code 23', said[0])

    def test_a_crash_leaves_no_report_and_is_a_failure(self):
        line, said = self.count('FAIL', None, -11)
        self.assertEqual(line, '0 passed, 1 failed')
        self.assertIn('exit code -11', said[0])

    def test_a_timeout_is_a_failure(self):
        self.assertEqual(self.count('TIMEOUT', None, -9)[0], '0 passed, 1 failed')

    def test_a_script_counts_as_one(self):
        self.assertEqual(self.count('OK')[0], '1 passed, 0 failed')
        self.assertEqual(self.count('SKIP')[0], '0 passed, 0 failed, 1 skipped')


class Select(unittest.TestCase):
    tests = [{'name': 'core fabric', 'suite': ['hbf:core', 'hbf:tsan'], 'protocol': 'gtest'},
             {'name': 'core loader', 'suite': ['hbf:core'], 'protocol': 'gtest'},
             {'name': 'install', 'suite': ['hbf:project'], 'protocol': 'exitcode'}]

    def names(self, suite, text):
        tests, case_filter = run_tests.select(self.tests, suite, text)
        return [t['name'] for t in tests], case_filter

    def test_everything(self):
        self.assertEqual(self.names('', ''), (['core fabric', 'core loader', 'install'], None))

    def test_suite(self):
        self.assertEqual(self.names('tsan', ''), (['core fabric'], None))
        self.assertEqual(self.names('tsan,project', ''), (['core fabric', 'install'], None))

    def test_a_filter_names_programs_first(self):
        self.assertEqual(self.names('', 'Fabric'), (['core fabric'], None))
        self.assertEqual(self.names('', 'core*'), (['core fabric', 'core loader'], None))

    def test_then_cases(self):
        self.assertEqual(self.names('', 'Batch.'), (['core fabric', 'core loader'], '*Batch.*'))


if __name__ == '__main__':
    unittest.main()
