# SPDX-License-Identifier: Apache-2.0
"""Writes a linker's version script from lists of functions.

Lines F(502, name, ...), and with R, S and U, name the release of HIP that brought a function: 502 is 5.2. Each release up to
--until becomes a node, hip_5.2, that follows the one before it, as in AMD's own libraries. Names that no release is asked of
(--plain) stand in one node without a name.
"""
import argparse
import re

LINE = re.compile(r'^[FRSU]\((\d+), (\w+)', re.MULTILINE)


def nodes(functions, until):
    releases = {}
    for release, name in functions:
        if release <= until:
            releases.setdefault(release, []).append(name)
    before = None
    for release in sorted(releases):
        node = f'hip_{release // 100}.{release % 100}'
        names = ' '.join(f'{name};' for name in sorted(releases[release]))
        hidden = '' if before else ' local: *;'
        yield f'{node} {{ global: {names}{hidden} }}{" " + before if before else ""};\n'
        before = node


def main():
    what = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what.add_argument('lists', nargs='+')
    what.add_argument('--output', required=True)
    what.add_argument('--until', type=int, required=True)
    what.add_argument('--plain', action='store_true')
    what.add_argument('--without', action='append', default=[], help='a function that is left out')
    asked = what.parse_args()
    functions = []
    for path in asked.lists:
        with open(path, encoding='utf-8') as file:
            functions += [(int(release), name) for release, name in LINE.findall(file.read())]
    unknown = set(asked.without) - {name for _, name in functions}
    if unknown:
        what.error('--without names what is in no list: ' + ', '.join(sorted(unknown)))
    functions = [(release, name) for release, name in functions if name not in asked.without]
    with open(asked.output, 'w', encoding='utf-8') as out:
        if asked.plain:
            names = ' '.join(f'{name};' for release, name in functions if release <= asked.until)
            out.write(f'{{ global: {names} local: *; }};\n')
        else:
            out.writelines(nodes(functions, asked.until))


if __name__ == '__main__':
    main()
