#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tree that is to run wherever it is unpacked: does it?

  check.py [--glibc VERSION] [--built-in FOLDER]... TREE

Each program and library in TREE needs only glibc and what lies in TREE, and finds that by paths relative to itself; no
symbol is newer than glibc VERSION; a plugin exports its entry symbol alone, all others nothing but
namespace hbf and hbf_kv_*; no file
names a folder it was built in; no link leads out of TREE. Exit code: 0 so it is, 1 it is not, 2 wrong usage.
"""

import argparse
import os
import pathlib
import re
import stat
import subprocess
import sys

GLIBC = re.compile(r'(lib(c|m|pthread|dl|rt)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)')
OURS = re.compile(r'_ZN3hbf|_ZNK3hbf|_ZT[ISV]N3hbf|hbf_kv_')
ENTRY = 'hbf_plugin_query'
PLUGINS = ('hbf/plugins/', 'hbf/conformance/', 'hbf/standins/')
EMULATED = 'hbf/emulators/'
# With this one the suite proves that a plugin whose library is nowhere to be found is refused.
MISSING_ON_PURPOSE = ('missing_dependency.so', 'libhostile-absent.so')


def version(text):
    return tuple(int(part) for part in text.split('.'))


def readelf(option, path):
    return subprocess.run(['readelf', '-W', option, path], check=True, capture_output=True, text=True).stdout


def exported(path):
    """Names in the dynamic symbol table that others can bind to."""
    for line in readelf('--dyn-syms', path).splitlines():
        fields = line.split()
        # number: value size type binding visibility section name
        if len(fields) >= 8 and re.fullmatch(r'\d+:', fields[0]) and fields[6] != 'UND' and fields[4] != 'LOCAL':
            yield fields[7].split('@')[0]


class Elf:
    def __init__(self, path, tree):
        self.path, self.tree, self.name = path, tree, str(path.relative_to(tree))
        dynamic = readelf('-d', path)
        self.needed = re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic)
        self.run_paths = [p for found in re.findall(r'\(RUNPATH\).*\[(.*)\]', dynamic) for p in found.split(':')]
        self.rpath = '(RPATH)' in dynamic
        self.text_relocations = '(TEXTREL)' in dynamic or 'TEXTREL' in ' '.join(re.findall(r'\(FLAGS\).*', dynamic))
        self.segments = readelf('-l', path)
        self.sections = readelf('-S', path)
        self.glibc = {version(v) for v in re.findall(r'Name: GLIBC_([0-9.]+)', readelf('-V', path))}
        self.machine = re.search(r'Machine:\s*(.*)', readelf('-h', path))[1].strip()

    def is_plugin(self):
        return any(folder in self.name for folder in PLUGINS)

    def faults(self, newest):
        for library in self.needed:
            on_purpose = (self.path.name, library) == MISSING_ON_PURPOSE
            if not GLIBC.fullmatch(library) and not self.carried(library) and not on_purpose:
                yield f'needs {library}, not of glibc and not found through its run path {":".join(self.run_paths)}'
        if self.rpath:
            yield 'has an RPATH, which LD_LIBRARY_PATH cannot overrule'
        for path in self.run_paths:
            target = os.path.normpath(path.replace('$ORIGIN', str(self.path.parent)))
            if not path.startswith('$ORIGIN') or not pathlib.Path(target).is_relative_to(self.tree):
                yield f'looks for libraries in {path}, outside the tree'
        if newer := sorted(v for v in self.glibc if v > newest):
            yield f'needs glibc {".".join(map(str, newer[-1]))}, newer than {".".join(map(str, newest))}'
        yield from self.symbol_faults()
        if self.text_relocations:
            yield 'has relocations in its code'
        if re.search(r'GNU_STACK.* RWE ', self.segments):
            yield 'wants an executable stack'
        if '.debug_info' in self.sections:
            yield 'is not stripped'
        interpreter = re.search(r'interpreter: (.*)\]', self.segments)
        if interpreter and not re.fullmatch(r'/lib(64)?/ld-linux-(x86-64|aarch64)\.so\.\d', interpreter[1]):
            yield f'is started by {interpreter[1]}'

    def symbol_faults(self):
        names = set(exported(self.path))
        if self.is_plugin():
            if names != {ENTRY}:
                yield f'exports {", ".join(sorted(names)[:5]) or "nothing"}, not {ENTRY} alone'
        elif EMULATED in self.name:
            return # a runtime exports its vendor's names
        elif foreign := sorted(n for n in names if not OURS.match(n) and not self.copied(n)):
            yield f'exports {len(foreign)} symbols that are not of namespace hbf, such as {foreign[0]}'

    def copied(self, name):
        """A program holds variables of glibc, such as stderr, that it was linked to by address."""
        return 'INTERP' in self.segments and not name.startswith('_Z')

    def carried(self, library):
        return any((pathlib.Path(p.replace('$ORIGIN', str(self.path.parent))) / library).exists() for p in self.run_paths)


def file_faults(path, tree, built_in):
    mode = path.lstat().st_mode
    if path.is_symlink():
        if not path.exists() or not path.resolve().is_relative_to(tree):
            yield f'is a link to {os.readlink(path)}, which is not in the tree'
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        yield 'is neither file nor folder'
    if mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWGRP | stat.S_IWOTH):
        yield f'has mode {stat.S_IMODE(mode):04o}: others may write to it, or it gives rights away'
    if stat.S_ISREG(mode):
        content = path.read_bytes()
        for folder in built_in:
            if folder.encode() in content:
                yield f'names the folder it was built in, {folder}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--glibc', default='2.36', help='the oldest that it has to run with')
    parser.add_argument('--built-in', action='append', default=[], help='a path that no file may contain')
    parser.add_argument('tree', type=pathlib.Path)
    args = parser.parse_args()
    tree = args.tree.resolve()

    faults, needs, elfs, machines = [], {(0,)}, 0, set()
    for path in sorted(tree.rglob('*')):
        name = path.relative_to(tree)
        faults += [f'{name}: {fault}' for fault in file_faults(path, tree, args.built_in)]
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b'\x7fELF':
            continue
        elf = Elf(path, tree)
        elfs += 1
        needs |= elf.glibc
        machines.add(elf.machine)
        faults += [f'{name}: {fault}' for fault in elf.faults(version(args.glibc))]
    if elfs == 0:
        faults.append(f'{tree}: no program and no library in it')
    if len(machines) > 1:
        faults.append(f'for several machines: {", ".join(sorted(machines))}')
    for fault in faults:
        print(f'bundle: {fault}', file=sys.stderr)
    print(f'{elfs} programs and libraries for {"".join(machines) or "nothing"}, '
          f'glibc {".".join(map(str, max(needs)))} or newer: {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
