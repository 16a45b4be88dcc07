#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the plain comments of a header to Doxygen, line by line, so that the headers stay free of its marks.

A comment before code belongs to what follows, one behind code to what it stands behind, and the first one to the file.
"""

import re
import sys

BEHIND_CODE = re.compile(r'^(\s*[^\s/*].*?)(//|/\*)(?![/*!<]) ?(.*)$')
LINE = re.compile(r'^(\s*)//(?!/) ?(.*)$')
BLOCK = re.compile(r'^(\s*)/\*(?![*!]) ?(.*)$')


def convert(lines):
    file_comment = next((found for line in lines[1:2] if (found := LINE.match(line) or BLOCK.match(line))), None)
    for number, line in enumerate(lines):
        if number == 0 and 'SPDX' in line:
            # Its place takes the mark that makes the comment below it the file's own.
            yield '' if not file_comment else '/// @file' if lines[1].startswith('//') else '/** @file'
        elif number == 1 and file_comment:
            yield f'/// {file_comment[2]}' if line.startswith('//') else f' * {file_comment[2]}'
        elif '"' not in line and (found := BEHIND_CODE.match(line)):
            yield f'{found[1]}{"///<" if found[2] == "//" else "/**<"} {found[3]}'
        elif found := LINE.match(line):
            yield f'{found[1]}/// {found[2]}'
        elif found := BLOCK.match(line):
            yield f'{found[1]}/** {found[2]}'
        else:
            yield line


def main():
    with open(sys.argv[1], encoding='utf-8') as source:
        lines = source.read().split('\n')
    # Doxygen reports lines of the header: none may be added or lost.
    sys.stdout.write('\n'.join(convert(lines)))


if __name__ == '__main__':
    main()
