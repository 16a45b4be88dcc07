#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freezes the layout of the plugin ABI: sizes, offsets, types, constants.

  layout.py check  GOLDEN HEADERS COMPILER...   the headers give exactly GOLDEN, on each compiler (command lines)
  layout.py update GOLDEN HEADERS COMPILER      write GOLDEN anew; by hand only, and only for additions once 1.0 is out

The text comes from a generated C program, run if this machine can run it. GOLDEN is also turned into static asserts, which
each compiler must accept: that is how a machine that is not at hand (aarch64) is checked."""

import difflib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import abi_text

HEAD = """# Layout of the HBF plugin ABI, compared by plugins/sdk/tests/layout.py. Not edited by hand:
#   plugins/sdk/tests/layout.py update core/include/hbf/abi/layout.golden core/include/hbf/abi cc
# struct NAME size N align N, then: offset size declaration
"""


def program(folder):
    """C source that prints the golden text."""
    lines = ["#include <stdio.h>"]
    body, names = [], {}
    for header in abi_text.headers(folder):
        lines.append(f'#include "{header.resolve()}"')
        text = header.read_text()
        body.append(f'puts("\\n[{header.name}]");')
        for struct, fields in abi_text.structs(text).items():
            body.append(f'printf("struct {struct} size %zu align %zu\\n", sizeof({struct}), _Alignof({struct}));')
            for field, declaration in fields:
                size = f"sizeof((({struct} *)0)->{field})"
                shown = declaration.replace("\\", "\\\\").replace('"', '\\"')
                body.append(f'printf("  %zu %zu {shown}\\n", offsetof({struct}, {field}), {size});')
        body += [f'puts("typedef {typedef}");' for typedef in abi_text.typedefs(text)]
        numbers, strings = abi_text.constants(text)
        for name in numbers:
            body.append(f'printf("constant {name} %llu\\n", (unsigned long long)({name}));')
        for name in strings:
            body.append(f'puts("string {name} " {name});')
        for name in numbers + strings:
            if names.setdefault(name, header) != header:
                abi_text.die(f"{name} is defined in {names[name]} and {header}")
    return "\n".join(lines + ["int main(void) {"] + body + ["return 0;", "}", ""])


def asserts(golden, folder):
    """C11 and C++ source that a compiler accepts only if it lays everything out as `golden` says."""
    lines = [f'#include "{header.resolve()}"' for header in abi_text.headers(folder)]
    struct = None
    for line in golden.splitlines():
        if match := re.fullmatch(r"struct (\w+) size (\d+) align (\d+)", line):
            struct = match[1]
            alignment = f"offsetof(struct {{ char c; {struct} s; }}, s)"
            lines.append(f'HBF_STATIC_ASSERT(sizeof({struct}) == {match[2]}, "size of {struct}");')
            lines.append(f"#ifndef __cplusplus\nHBF_STATIC_ASSERT({alignment} == {match[3]}, \"alignment\");\n#endif")
        elif match := re.fullmatch(r"  (\d+) (\d+) (.*)", line):
            field = abi_text.field_name(match[3])
            lines.append(f'HBF_STATIC_ASSERT(offsetof({struct}, {field}) == {match[1]}, "{struct}.{field}");')
            lines.append(f'HBF_STATIC_ASSERT(sizeof((({struct} *)0)->{field}) == {match[2]}, "{struct}.{field}");')
        elif match := re.fullmatch(r"constant (\w+) (\d+)", line):
            lines.append(f'HBF_STATIC_ASSERT({match[1]} == {match[2]}u, "{match[1]}");')
    return "\n".join(lines) + "\n"


def no_holes(text):
    """Every byte of every struct belongs to a declared field: no padding, and no field that was not read."""
    for block in re.findall(r"struct (\w+) size (\d+) align \d+\n((?:  .*\n)+)", text):
        end = 0
        for offset, size, declaration in re.findall(r"  (\d+) (\d+) (.*)\n", block[2]):
            if int(offset) != end:
                abi_text.die(f"{block[0]}: {end} to {offset} belongs to no field (before {declaration})")
            end = int(offset) + int(size)
        if end != int(block[1]):
            abi_text.die(f"{block[0]}: {end} to {block[1]} belongs to no field")


def run(command, source, suffix, output):
    path = output.with_suffix(suffix)
    path.write_text(source)
    done = subprocess.run([*shlex.split(command), str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: `{command}` does not lay the ABI out as the golden file says, or fails:\n{done.stderr[:4000]}")


def produce(folder, compiler, scratch):
    """The golden text, or None where what `compiler` makes does not run here."""
    binary = scratch / "layout"
    run(f"{compiler} -std=c11 -o {shlex.quote(str(binary))}", program(folder), ".c", scratch / "program")
    try:
        done = subprocess.run([binary], capture_output=True, text=True)
    except OSError as error:
        print(f"note: what {compiler} builds does not run here ({error.strerror}); checked by static asserts alone")
        return None
    if done.returncode != 0:
        abi_text.die(f"the layout program ended with {done.returncode}")
    no_holes(done.stdout)
    return HEAD + done.stdout


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in ("check", "update"):
        print(__doc__)
        return 2
    mode, golden, folder, compilers = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        if mode == "update":
            text = produce(folder, compilers[0], scratch)
            if text is None:
                return 1
            golden.write_text(text)
            print(f"wrote {golden}")
            return 0
        frozen, ran = golden.read_text(), 0
        source = asserts(frozen, folder)
        for compiler in dict.fromkeys(compilers): # each once
            if not shutil.which(shlex.split(compiler)[0]):
                print(f"not here: {compiler}")
                continue
            for language, standard in (("c", "c11"), ("c++", "c++17")):
                run(f"{compiler} -x {language} -std={standard} -fsyntax-only", source, ".in", scratch / "asserts")
            text = produce(folder, compiler, scratch)
            if text is None:
                continue
            ran += 1
            if text != frozen:
                difference = difflib.unified_diff(frozen.splitlines(True), text.splitlines(True), str(golden), "headers")
                sys.stdout.writelines(difference)
                print(f"the headers no longer give {golden}")
                return 1
            print(f"same layout: {compiler}")
        if ran == 0:
            print("error: no compiler's program ran, so names missing from the golden file would not be seen")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
