#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin's file, as the linker left it.

  plugin_file.py PLUGIN.so...

One exported symbol, hbf_plugin_query, a function; never unloaded (NODELETE); bound at load (NOW); its own symbols bound to
itself; no search path. Readelf reads any machine's files, so this holds for cross builds too."""

import re
import subprocess
import sys

ENTRY = "hbf_plugin_query"


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def faults(path):
    exported = []
    for line in readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        # number: value size type binding visibility section name
        if len(fields) >= 8 and re.fullmatch(r"\d+:", fields[0]) and fields[6] != "UND" and fields[4] != "LOCAL":
            exported.append((fields[3], fields[7].split("@")[0]))
    if exported != [("FUNC", ENTRY)]:
        yield f"exports {', '.join(f'{name} ({kind})' for kind, name in exported) or 'nothing'}, not {ENTRY} alone"
    dynamic = readelf("-d", path)
    flags = re.search(r"\(FLAGS_1\).*", dynamic)
    if not flags or "NODELETE" not in flags[0]:
        yield "can be unloaded: link with -Wl,-z,nodelete"
    if not flags or "NOW" not in flags[0]:
        yield "leaves symbols to resolve later: link with -Wl,-z,now"
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "has a library search path of its own"
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if re.match(r"lib(cuda|nvidia|amdhip|hsa|cnrt|cndrv|ze_loader|OpenCL)", library):
            yield f"is linked with a vendor's library, {library}: open it with dlopen in probe and create"


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    failed = 0
    for path in sys.argv[1:]:
        found = list(faults(path))
        for fault in found:
            print(f"FAILED {path}: {fault}")
        failed += bool(found)
        if not found:
            print(f"{path}: one export, never unloaded, bound at load")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
