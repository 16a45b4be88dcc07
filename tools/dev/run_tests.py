#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of one build folder and counts them case by case.

Meson counts a GoogleTest program as one test; here each of its cases counts. A program that dies, times out or leaks
after its last case is one more failure, so a crash cannot hide behind cases that passed before it.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as et

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'


def introspect(folder, what):
    done = subprocess.run(['meson', 'introspect', '--' + what, folder], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def select(tests, suite, text):
    """The tests to run and the GoogleTest filter for them. TEXT names tests; where it names none, single cases."""
    if suite:
        tests = [t for t in tests if any(s.split(':')[-1] in suite.split(',') for s in t['suite'])]
    if not text:
        return tests, None
    pattern = text if any(c in text for c in '*?[') else f'*{text}*'
    named = [t for t in tests if fnmatch.fnmatch(t['name'].lower(), pattern.lower())]
    if named:
        return named, None
    return [t for t in tests if t['protocol'] == 'gtest'], pattern


def read_skip_file(name):
    """Cases that cannot run where the tests run, "CASE PATTERN | REASON" a line."""
    lines = pathlib.Path(name).read_text(encoding='utf-8').splitlines()
    rows = [line.split('|', 1) for line in lines if line.strip() and not line.startswith('#')]
    return [(pattern.strip(), reason.strip()) for pattern, reason in rows]


def build(folder, tests):
    """Builds what the tests use and nothing else: a sanitizer build need not hold the whole tree.

    A test of the suite "install" looks at everything that is installed, so it needs the whole tree.
    """
    by_id = {t['id']: t for t in introspect(folder, 'targets')}
    root = pathlib.Path(folder).resolve()
    files = set()
    for test in tests:
        for target in test['depends']:
            if target in by_id:
                files.update(by_id[target]['filename'])
        files.update(word for word in test['cmd'] if word.startswith(str(root)))
    whole = any(s.split(':')[-1] == 'install' for t in tests for s in t['suite'])
    known = {f for t in by_id.values() for f in t['filename']}
    targets = [] if whole else sorted(str(pathlib.Path(f).relative_to(root)) for f in files if f in known)
    return subprocess.run(['ninja', '-C', folder, *targets], stdout=sys.stderr, check=False).returncode


def case_outcome(case):
    if case.find('failure') is not None or case.find('error') is not None:
        return FAILED
    if case.find('skipped') is not None or case.get('status') == 'notrun' or case.get('result') in ('skipped', 'suppressed'):
        return SKIPPED
    return PASSED


def program_outcome(result):
    if result in ('OK', 'EXPECTEDFAIL'):
        return PASSED
    return SKIPPED if result in ('SKIP', 'IGNORED') else FAILED


def count(results, reports):
    """Outcomes of every case, and what to say about those that failed."""
    tally = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    said = []
    for result in results:
        name = result['name'].split(' / ')[-1]
        outcome = program_outcome(result['result'])
        report = reports.get(name)
        if report is None or not report.exists():
            tally[outcome] += 1
            if outcome == FAILED:
                said.append(f'{name}: {result["result"]}, exit code {result.get("returncode")}')
            continue
        failures = 0
        for case in et.parse(report).getroot().iter('testcase'):
            if case.get('status') == 'notrun' and case.get('result') == 'suppressed':
                continue  # filtered out or disabled: it was not asked for
            of_case = case_outcome(case)
            tally[of_case] += 1
            if of_case == FAILED:
                failures += 1
                said.append(f'{name}: {case.get("classname")}.{case.get("name")}')
        if outcome == FAILED and failures == 0:
            tally[FAILED] += 1
            said.append(f'{name}: {result["result"]} after its last case, exit code {result.get("returncode")}')
    return tally, said


def closing_line(tally):
    line = f'{tally[PASSED]} passed, {tally[FAILED]} failed'
    return line + (f', {tally[SKIPPED]} skipped' if tally[SKIPPED] else '')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('folder')
    parser.add_argument('--suite', default='', help='one or more, with commas between')
    parser.add_argument('--filter', default='')
    parser.add_argument('--wrapper', default='', help='command that starts each test')
    parser.add_argument('--timeout-multiplier', default='1')
    parser.add_argument('--skip-cases', help='file of cases to leave out; only GoogleTest programs run then')
    args = parser.parse_args()

    folder = pathlib.Path(args.folder)
    tests, case_filter = select(introspect(args.folder, 'tests'), args.suite, args.filter)
    if args.skip_cases:
        left_out = read_skip_file(args.skip_cases)
        for pattern, reason in left_out:
            print(f'    not run: {pattern}: {reason}', file=sys.stderr)
        case_filter = (case_filter or '*') + '-' + ':'.join(pattern for pattern, _ in left_out)
        tests = [t for t in tests if t['protocol'] == 'gtest']
    if not tests:
        print(f'dev: error: no test matches suite "{args.suite}" and filter "{args.filter}"', file=sys.stderr)
        print('0 passed, 0 failed')
        return 1
    if build(args.folder, tests) != 0:
        print(f'dev: error: the build in {args.folder} failed: see the first "error:" or "FAILED:" above', file=sys.stderr)
        return 3

    reports = {t['name']: pathlib.Path(t['workdir'] or folder) / (t['name'] + '.xml')
               for t in tests if t['protocol'] == 'gtest'}
    for report in reports.values():
        report.unlink(missing_ok=True)
    logs = folder / 'meson-logs'
    for log in logs.glob('testlog*.json'):
        log.unlink()

    command = ['meson', 'test', '-C', args.folder, '--no-rebuild', '--print-errorlogs', '-t', args.timeout_multiplier]
    # One more than there are processors: many wait for what hangs, or for the disk.
    command += ['--num-processes', str(len(os.sched_getaffinity(0)) + 1)]
    command += ['--wrapper', args.wrapper] if args.wrapper else []
    command += [f'--test-args=--gtest_filter={case_filter}'] if case_filter else []
    command += sorted({t['name'] for t in tests})
    code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False).returncode

    # Meson puts the wrapper's name into the name of its log.
    lines = [line for log in logs.glob('testlog*.json') for line in log.read_text(encoding='utf-8').splitlines()]
    results = [json.loads(line) for line in lines]
    tally, said = count(results, reports)
    if len(results) < len(tests):
        tally[FAILED] += len(tests) - len(results)
        said.append(f'{len(tests) - len(results)} test programs did not run')
    if code != 0 and tally[FAILED] == 0:
        tally[FAILED] += 1
        said.append(f'meson test ended with exit code {code}')
    for line in said:
        print(f'FAILED  {line}', file=sys.stderr)
    if tally[PASSED] + tally[FAILED] == 0:
        print('dev: error: no test case ran', file=sys.stderr)
    print(closing_line(tally), flush=True)
    return 0 if tally[FAILED] == 0 and tally[PASSED] > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
