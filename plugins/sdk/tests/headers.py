#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header of the plugin ABI and SDK compiles alone, without a warning, with each compiler that is here.

  headers.py abi ABI_FOLDER COMPILER...           as C11, C17, C++17 and C++20, and without any implicit padding
  headers.py sdk SDK_FOLDER ABI_FOLDER COMPILER...  as C++20; after the first compiler, only the ones an author includes

COMPILER is a command line; one that is not installed is a printed line."""

import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Werror"]


def present(compilers):
    seen = []
    for compiler in compilers:
        if not shutil.which(shlex.split(compiler)[0]):
            print(f"not here, so not tried: {compiler}")
        elif compiler not in seen:
            seen.append(compiler)
    return seen or sys.exit("error: no compiler to try")


def compile_alone(compiler, language, standard, header, includes, extra):
    # Twice: the include guard must hold too.
    source = f'#include "{header}"\n#include "{header}"\n' + ("typedef int not_empty;\n" if language == "c" else "")
    command = [*shlex.split(compiler), "-x", language, f"-std={standard}", *WARNINGS, *extra, "-fsyntax-only",
               *(f"-I{folder}" for folder in includes), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return f"{header}: {compiler} -std={standard}", done.returncode, done.stderr


def jobs(mode, arguments):
    if mode == "abi":
        folder = pathlib.Path(arguments[0]).resolve()
        headers = [*sorted(folder.glob("*.h")), folder.parent / "abi.h"]
        for compiler in present(arguments[1:]):
            for language, standard in (("c", "c11"), ("c", "c17"), ("c++", "c++17"), ("c++", "c++20")):
                for header in headers:
                    yield compiler, language, standard, header, [], ["-Wpadded"]
    else:
        folder, abi = (pathlib.Path(argument).resolve() for argument in arguments[:2])
        for number, compiler in enumerate(present(arguments[2:])):
            headers = sorted(folder.rglob("*.hpp")) if number == 0 else [folder / "entry.hpp", folder / "region_table.hpp"]
            for header in headers:
                yield compiler, "c++", "c++20", header, [folder.parents[1], abi.parents[1]], []


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("abi", "sdk"):
        print(__doc__)
        return 2
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for name, code, text in pool.map(lambda job: compile_alone(*job), jobs(sys.argv[1], sys.argv[2:])):
            if code == 0:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {name}\n{text[:2000]}")
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
