#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/plugin-rules.md tells the truth: ids are unique and count without a gap, every rule says all it must, every test and
script it names exists, and the table of reasons is the loader's list.

  rules.py ROOT [HBF_CASE]

With the suite's case program, the cases that rules name are its cases too, each case names rules that exist, and no name in
conformance/suite/names.frozen has gone."""

import json
import pathlib
import re
import subprocess
import sys

RULE = re.compile(r"^### (HBF-[A-Z]+-\d+): .+$")
GROUPS = ["ABI", "LIFE", "TIER", "DMA", "QUEUE", "KRN", "THR", "COH", "INT", "BW", "SEL", "SEC"]
# Cases of these groups only; a name is [a-z0-9_.], group first.
CASES = ("abi", "lifecycle", "tier", "dma", "async", "kernels", "threads", "coherence", "integrity", "bandwidth", "select",
         "security")
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")


def tests(root):
    return {f"{suite}.{name}" for folder in ("core", "plugins", "kernels", "tools", "conformance")
            for path in (root / folder).rglob("*_test.cpp") for suite, name in TEST.findall(path.read_text())}


def rules(text):
    """id -> its text, in order; complains about doubles."""
    found, current = {}, None
    for line in text.splitlines():
        if match := RULE.match(line):
            current = match[1]
            if current in found:
                yield None, f"{current} is there twice"
            found[current] = ""
        elif line.startswith("#"):
            if line.startswith("###"):
                yield None, f"not a rule's title: {line}"
            current = None
        elif current:
            found[current] += line + "\n"
    yield found, None


def split_checks(text):
    """What checks a rule today, its cases, and what is planned: [text, names, names or a sentence]."""
    today, *rest = re.split(r"\*(Case|Planned)\*: ?", re.sub(r"\s+", " ", text).strip() + " ")
    named = dict(zip(rest[::2], rest[1::2]))
    return today, named.get("Case", ""), named.get("Planned", "")


def names(listed):
    return [name.strip(" .`") for name in listed.split(",") if name.strip(" .`")]


def check_rule(root, rule, body, known, cases):
    parts = dict(re.findall(r"^- \*\*(Why|Host|Checked by)\*\*: (.*?)(?=^- \*\*|\Z)", body, flags=re.M | re.S))
    if list(parts) != ["Why", "Host", "Checked by"] or body.startswith("-"):
        yield f"{rule} must be a sentence, then Why, Host, Checked by; it has {list(parts)}"
        return
    today, existing, planned = split_checks(parts["Checked by"])
    if not existing.strip() and not planned.strip():
        yield f"{rule} names no case of the suite, and does not say what is planned (a case, or none and why)"
    named = re.findall(r"`([^`]+)`", today)
    if not named:
        yield f"{rule} names no test"
    for name in named:
        if name.startswith("./dev "):
            continue
        if "/" in name:
            if not (root / name).is_file():
                yield f"{rule} names {name}, which is not there"
        elif name not in known:
            yield f"{rule} names the test {name}, which is not there"
    for name in names(existing) + ([] if planned.strip().startswith("none") else names(planned)):
        if not re.fullmatch(r"(%s)(\.[a-z0-9_]+)+" % "|".join(CASES), name):
            yield f"{rule}: {name!r} is no name of a case"
    for name in names(existing):
        if cases is not None and name not in cases:
            yield f"{rule} names the case {name}, which is not there"
        elif cases is not None and rule not in cases[name]["rules"]:
            yield f"{rule} names the case {name}, which does not name {rule}"
    for name in names(planned):
        if cases and name in cases:
            yield f"{rule} plans the case {name}, which is there: say *Case*"


def check_cases(root, found, cases):
    for name, case in cases.items():
        for rule in case["rules"]:
            if rule not in found:
                yield f"the case {name} names {rule}, which is no rule"
        if not case["hidden"] and not case["rules"]:
            yield f"the case {name} names no rule"
    for line in (root / "conformance" / "suite" / "names.frozen").read_text().splitlines():
        if line and not line.startswith("#") and line not in cases:
            yield f"the case {line} was released and is gone: a name is for ever"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    root = pathlib.Path(sys.argv[1])
    text = (root / "docs" / "plugin-rules.md").read_text()
    faults, found = [], {}
    for result, fault in rules(text):
        found = result or found
        faults += [fault] if fault else []
    known, cases = tests(root), None
    if len(sys.argv) == 3:
        listed = subprocess.run([sys.argv[2], "--list"], check=True, capture_output=True, text=True).stdout
        cases = {case["name"]: case for case in json.loads(listed)}
        faults += check_cases(root, found, cases)
    for rule, body in found.items():
        faults += check_rule(root, rule, body, known, cases)
    for group in GROUPS:
        numbers = [int(rule.rsplit("-", 1)[1]) for rule in found if rule.startswith(f"HBF-{group}-")]
        if numbers != list(range(1, len(numbers) + 1)) or not numbers:
            faults.append(f"HBF-{group}: numbers {numbers} do not count up from 1")
    faults += [f"{rule} is of no known group" for rule in found if rule.split("-")[1] not in GROUPS]
    for mentioned in sorted(set(re.findall(r"HBF-[A-Z]+-\d+", text)) - set(found)):
        faults.append(f"{mentioned} is mentioned but is no rule")

    words = re.search(r"reason_words = \{(.*?)\}", (root / "core" / "loader" / "reasons.cpp").read_text(), flags=re.S)[1]
    theirs, ours = re.findall(r'"(\w+)"', words), re.findall(r"^\| `(\w+)` \|", text, flags=re.M)
    if theirs != ours:
        faults.append(f"the table of reasons is not the loader's list: {sorted(set(theirs) ^ set(ours)) or 'another order'}")
    for fault in faults:
        print(f"docs/plugin-rules.md: {fault}")
    print(f"{len(found)} rules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
