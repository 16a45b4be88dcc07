#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ABI headers as a later minor version may have them, for tests: made from today's, so that nobody maintains them.

  later_headers.py ABI_FOLDER OUT_FOLDER

The version is two minors on; every struct that knows its size, and the command, has two more fields at its end; an extension
id is new. Frozen minimum sizes stay, as the policy has it."""

import pathlib
import re
import sys

MORE = 16  # bytes
FIELDS = "    uint64_t later_a;\n    uint64_t later_b;\n"
STRUCT = re.compile(r"typedef struct (\w+) \{\n(?P<body>.*?)\n\} \1;\n(?P<between>(?:#define \w+_SIZE \d+u\n)?)"
                    r"HBF_CHECK_LAYOUT\(\1, (?P<size>\w+), (?P<last>\w+)\);", re.S)
VERSION = re.compile(r"(#define HBF_ABI_VERSION HBF_ABI_MAKE\(\d+, )(\d+)\)")


def grown(match):
    name, size = match[1], match["size"]
    if name != "hbf_command" and not match["body"].startswith("    uint32_t struct_size;"):
        return match[0]  # it never grows
    number = size if size.isdigit() else re.search(rf"#define {size} (\d+)u", match["between"])[1]
    return (f"typedef struct {name} {{\n{match['body']}\n{FIELDS}}} {name};\n{match['between']}"
            f"HBF_CHECK_LAYOUT({name}, {int(number) + MORE}, later_b);")


def later(text):
    """The header's text two minors on, and how many structs have grown."""
    text = VERSION.sub(lambda m: f"{m[1]}{int(m[2]) + 2})", text)
    tier = '#define HBF_EXT_TIER "hbf.tier/1"'
    text = text.replace(tier, tier + '\n#define HBF_EXT_LATER "hbf.later/1"')
    text = STRUCT.sub(grown, text)
    return text, text.count(FIELDS)


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    sized = structs = 0
    for header in sorted(source.glob("*.h")):
        text = header.read_text()
        sized += len(re.findall(r"\{\n    uint32_t struct_size;", text))
        new, count = later(text)
        structs += count
        (out / header.name).write_text(new)
    if structs != sized + 1:
        sys.exit(f"error: {sized} structs know their size and there is the command; {structs} have grown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
