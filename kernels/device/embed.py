# SPDX-License-Identifier: Apache-2.0
"""Makes what catalogue.cpp includes: the header of each kernel in the table, and its source as text for run-time compilers.

The text is the kernel's file with the files it includes in their places, each once; #line tells a compiler's messages where
they come from.
"""
import argparse
import pathlib
import re
import sys
import typing

LINE = re.compile(r'KERNEL\((\w+), (\d+), ([\w| ]+), ([\w, |]+)\)')
INCLUDE = re.compile(r'#include "([\w.]+\.h)"')


class Mistake(Exception):
    pass


class Line(typing.NamedTuple):
    name: str
    version: int
    needs: str
    access: str


def kernels(table: pathlib.Path) -> list[Line]:
    lines: list[Line] = []
    for number, line in enumerate(table.read_text().splitlines(), 1):
        if not line.startswith('KERNEL'):
            continue
        match = LINE.fullmatch(line)
        if not match:
            raise Mistake(f'{table}:{number}: not KERNEL(name, version, needs, access, ...): {line}')
        if any(other.name == match[1] for other in lines):
            raise Mistake(f'{table}:{number}: {match[1]} is there twice')
        lines.append(Line(match[1], int(match[2]), match[3], match[4]))
    if not lines:
        raise Mistake(f'{table}: no kernel in it')
    return lines


def device_lines(text: str) -> list[str]:
    """The lines of a file, with blank ones for what is `#ifdef HBF_ON_HOST`: compilers of devices never see it."""
    lines, depth = [], 0
    for line in text.splitlines():
        if depth or line == '#ifdef HBF_ON_HOST':
            depth += line.startswith('#if') - line.startswith('#endif')
            line = ''
        lines.append(line)
    return lines


def flatten(path: pathlib.Path, seen: set[pathlib.Path]) -> list[str]:
    """The lines of a file and of what it includes and is not in `seen` yet."""
    seen.add(path)
    try:
        text = path.read_text()
    except OSError as error:
        raise Mistake(f'{path}: {error.strerror}') from error
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(device_lines(text), 1):
        match = INCLUDE.fullmatch(line)
        if not match:
            lines.append(line)
            continue
        other = path.parent / match[1]
        if other not in seen:
            lines += flatten(other, seen)
            lines.append(f'#line {number + 1} "{path.name}"')
        else:
            lines.append('')
    return lines


def literal(line: str) -> str:
    return '"' + line.replace('\\', '\\\\').replace('"', '\\"') + '\\n"'


def write_depfile(path: pathlib.Path, output: pathlib.Path, files: typing.Iterable[pathlib.Path]) -> None:
    path.write_text(f'{output}: {" ".join(sorted(str(file) for file in files))}\n')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('table', type=pathlib.Path)
    parser.add_argument('--output', type=pathlib.Path, required=True, help='the file to include')
    parser.add_argument('--depfile', type=pathlib.Path, help='for ninja: the files that were read')
    parser.add_argument('--text', metavar='KERNEL', help='write only the text of this one')
    options = parser.parse_args()
    folder = options.table.parent
    try:
        if options.text:
            options.output.write_text('\n'.join(flatten(folder / f'{options.text}.h', set())) + '\n')
            return 0
        names, files = [line.name for line in kernels(options.table)], {options.table}
        out = ['// SPDX-License-Identifier: Apache-2.0', '// Made by embed.py from table.inc.']
        out += [f'#include "kernels/device/{name}.h"' for name in names]
        for name in names:
            seen: set[pathlib.Path] = set()
            text = flatten(folder / f'{name}.h', seen)
            files |= seen
            out += [f'static constexpr char {name}_source[] ='] + [literal(line) for line in text] + [';']
    except Mistake as mistake:
        print(f'embed.py: {mistake}', file=sys.stderr)
        return 1
    options.output.write_text('\n'.join(out) + '\n')
    if options.depfile:
        write_depfile(options.depfile, options.output, files)
    return 0


if __name__ == '__main__':
    sys.exit(main())
