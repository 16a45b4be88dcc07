#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of this project that no other tool checks. Prints FILE:LINE: WHAT and ends with 1 where one is broken.

    check_rules.py ROOT FILE...      FILE relative to ROOT, as git ls-files prints them
"""

import pathlib
import re
import sys

MAX_LINES = 500
MAX_WIDTH = 125
SOURCE_SUFFIXES = {'.c', '.h', '.cpp', '.hpp', '.cc', '.py', '.sh', '.map', '.ini', '.cl', '.cu', '.hip'}
SOURCE_NAMES = {'meson.build', 'meson.options', 'dev', 'run'}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {'.md', '.toml', '.txt', '.in', '.json'}

# Written in pieces, so that this file passes its own check.
MARKS = re.compile(r'\b(' + '|'.join(('TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK')) + r')\b')
# A new vendor is a new folder under plugins/ and nothing else.
VENDORS = re.compile(
    r'(?<![a-z])(nvidia|cuda|nvml|nvlink|amd(?!64)|rocm|hip|xgmi|cambricon|cnrt|mlu|intel|level[_ ]?zero|opencl|'
    r'samsung|micron|habana|ascend)(?![a-z])', re.IGNORECASE)


def is_source(path):
    return path.suffix in SOURCE_SUFFIXES or path.name in SOURCE_NAMES


def check_license(path, lines):
    first = lines[1:3] if lines and lines[0].startswith('#!') else lines[:2]
    if is_source(path) and not any('SPDX-License-Identifier: Apache-2.0' in line for line in first):
        yield 1, 'the first line does not say "SPDX-License-Identifier: Apache-2.0"'


def check_length(path, lines):
    if is_source(path) and len(lines) > MAX_LINES:
        yield len(lines), f'{len(lines)} lines, the limit is {MAX_LINES}: split it by idea'


def check_width(path, lines):
    for number, line in enumerate(lines, 1):
        # A table row or an address in prose cannot be broken.
        unbreakable = path.suffix in ('.md', '.json', '.txt') and (line.lstrip().startswith('|') or '://' in line)
        if len(line) > MAX_WIDTH and not unbreakable and path.suffix != '.json':
            yield number, f'{len(line)} characters wide, the limit is {MAX_WIDTH}'


def check_blanks(path, lines):
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, 'blanks at the end of the line'
        if '\t' in line:
            yield number, 'a tab; this project indents with blanks'


def check_marks(path, lines):
    for number, line in enumerate(lines, 1):
        if found := MARKS.search(line):
            yield number, f'"{found.group(1)}": finish it, or file an issue and say nothing here'


def check_vendors(path, lines):
    # A test may bring a vendor's machine: a kernel parameter, a folder in /sys.
    if path.parts[0] != 'core' or path.stem.endswith(('_test', '_fixture')):
        return
    for number, line in enumerate(lines, 1):
        if found := VENDORS.search(line):
            yield number, f'the core names a vendor ("{found.group(1)}"); it belongs into a plugin or its manifest'


CHECKS = (check_license, check_length, check_width, check_blanks, check_marks, check_vendors)


def check(root, name):
    path = pathlib.Path(name)
    if path.suffix not in TEXT_SUFFIXES and path.name not in SOURCE_NAMES:
        return []
    if (root / path).is_symlink() or not (root / path).is_file():
        return []
    try:
        text = (root / path).read_text(encoding='utf-8')
    except UnicodeDecodeError:
        return [(path, 1, 'not UTF-8')] if is_source(path) else []
    found = [(path, number, what) for rule in CHECKS for number, what in rule(path, text.splitlines())]
    if text and not text.endswith('\n'):
        found.append((path, text.count('\n') + 1, 'no newline at the end of the file'))
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    broken = [entry for name in sys.argv[2:] for entry in check(root, name)]
    for path, number, what in broken:
        print(f'{path}:{number}: {what}')
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
