#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents tell the truth: links lead somewhere, files named exist, commands shown run.

    documents_test.py BUILD_FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()

FENCE = re.compile(r'^```[^\n]*\n(.*?)^```', re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)')
# `core/include/hbf/system.hpp`, `docs/x.md`: a path in backticks whose first folder is one of ours.
NAMED = re.compile(r'`((?:core|plugins|kernels|tools|docs|bench|packaging|conformance)/[A-Za-z0-9_./-]+)`')
COMMAND = re.compile(r'^(\./dev|build/tools/hbf)\b')
# Too long for a test, or they would start it again; that they exist is looked up in the help text.
NOT_RUN = re.compile(r'^\./dev|hbf (?:bandwidth|conformance|corruption)(?! --help| --list)')

failures = []


def run(words, folder):
    environment = dict(os.environ, XDG_CACHE_HOME=folder, NO_COLOR='1')
    return subprocess.run(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)


def documents():
    listed = subprocess.run(['git', 'ls-files', '*.md'], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split()] or sorted(ROOT.glob('*.md')) + sorted(ROOT.glob('docs/*.md'))


def check_paths(document):
    text = document.read_text(encoding='utf-8')
    for target in LINK.findall(text):
        if not (document.parent / target).exists():
            failures.append(f'{document.relative_to(ROOT)}: the link to {target} leads nowhere')
    for name in NAMED.findall(FENCE.sub('', text)):
        if not (ROOT / name).exists():
            failures.append(f'{document.relative_to(ROOT)}: there is no {name}')


def commands(document):
    for block in FENCE.findall(document.read_text(encoding='utf-8')):
        for line in block.splitlines():
            line = line.removeprefix('$ ').split(' #')[0].strip()
            if COMMAND.match(line) and not re.search(r'[|<>&;$`]', line):
                yield line


def check_command(document, line, folder):
    words = [str(BUILD / 'tools/hbf') if word == 'build/tools/hbf' else str(ROOT / 'dev') if word == './dev' else word
             for word in line.split()]
    where = f'{document.relative_to(ROOT)}: "{line}"'
    if NOT_RUN.search(line):
        known = run([words[0], '--help'], folder).stdout
        names = [word for word in words[1:] if not word.startswith('-')]
        if names and not re.search(rf'^\s+{re.escape(names[0])}\b', known, re.MULTILINE):
            failures.append(f'{where}: {line.split()[0]} --help knows no "{names[0]}"')
        return 0
    done = run(words, folder)
    if done.returncode != 0:
        failures.append(f'{where} ended with exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}')
    return 1


def main():
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for document in documents():
            check_paths(document)
        for name in ('README.md', 'README.zh-CN.md'):
            for line in commands(ROOT / name):
                ran += check_command(ROOT / name, line, folder)
    if ran == 0:
        failures.append('no command was found in README.md')
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
