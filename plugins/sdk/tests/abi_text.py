# SPDX-License-Identifier: Apache-2.0
"""Reads the ABI headers as text: structs with their declared fields, constants, strings.

The headers are regular on purpose (one declaration a statement, no bit-fields, no anonymous members); anything this cannot
read is an error, and layout.py proves that no field was missed by adding the sizes up."""

import pathlib
import re
import sys

NOT_CONSTANTS = {"HBF_NOEXCEPT", "HBF_BEGIN_C", "HBF_END_C"}


def die(text):
    sys.exit("error: " + text)


def headers(folder):
    found = sorted(pathlib.Path(folder).glob("*.h"))
    return found or die(f"no headers in {folder}")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip().replace("( ", "(").replace(" )", ")")


def field_name(declaration):
    pointer = re.search(r"\(\*(\w+)\)", declaration)
    if pointer:
        return pointer[1]
    plain = re.search(r"(\w+)(\[\w+\])?$", declaration)
    return plain[1] if plain else die(f"cannot read the field {declaration!r}")


def statements(body):
    """Splits a struct's body at its top-level semicolons."""
    depth, start = 0, 0
    for at, char in enumerate(body):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == ";" and depth == 0:
            yield squeeze(body[start:at])
            start = at + 1
    if body[start:].strip():
        die(f"left over in a struct: {body[start:]!r}")


def structs(text):
    """name -> [(field, declaration)], in order."""
    found = {}
    for match in re.finditer(r"typedef struct (\w+) \{(.*?)\n\} (\w+);", without_comments(text), flags=re.S):
        if match[1] != match[3]:
            die(f"struct {match[1]} is called {match[3]} too")
        found[match[1]] = [(field_name(line), line) for line in statements(match[2])]
    opened = len(re.findall(r"typedef struct \w+ \{", text))
    return found if opened == len(found) else die(f"{opened} structs begin, {len(found)} were read")


def constants(text):
    """(numbers, strings): names of the object-like macros with a value."""
    numbers, strings = [], []
    joined = without_comments(text).replace("\\\n", " ")
    for name, value in re.findall(r"^#define (HBF_\w+)[ \t]+(\S.*)$", joined, flags=re.M):
        if name not in NOT_CONSTANTS:
            (strings if value.startswith('"') else numbers).append(name)
    return numbers, strings


def typedefs(text):
    """Names of scalars, opaque structs and function pointers."""
    return [squeeze(match) for match in re.findall(r"typedef ([^;{}]*);", without_comments(text))]
