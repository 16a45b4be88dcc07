#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents tell the truth, what can be seen without running anything but --help: links and anchors lead somewhere,
files named exist, addresses are known ones, commands in the text have these options, figures have sources.

    documents_test.py BUILD_FOLDER [ROOT]

What the code blocks say is documents_commands_test.py's.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys

from documents import markdown

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# `core/include/hbf/system.hpp`, `docs/x.md`: a path in backticks whose first folder is one of ours.
NAMED = re.compile(r'(?:core|plugins|kernels|tools|docs|bench|packaging|conformance)/[A-Za-z0-9_./-]+')
ADDRESS = re.compile(r'https?://[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?(/[\w.~!$&+,;=:@%/()*-]*)?(\?[\w.=&%+-]*)?(#[\w.-]+)?')
ADDRESS_LIST = 'docs/addresses.txt'
MEASURED = re.compile(r'measured here by `([^`]+)`')


def list_documents(root):
    """Names of all documents; not the pages that only the documentation site has, which ./dev docs checks."""
    return [name for name in all_markdown(root) if not name.startswith('docs/site/')]


def all_markdown(root):
    listed = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.md'], cwd=root,
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.split('\n') if name and (root / name).is_file()]
    return sorted(str(path.relative_to(root)) for pattern in ('*.md', 'docs/*.md', 'conformance/*/*.md', 'packaging/*.md',
                                                                  'plugins/*/*/*.md') for path in root.glob(pattern))


class Checker:
    def __init__(self, root, build):
        self.root, self.hbf = root, build / 'tools/hbf'
        self.failures = []
        self.seen_addresses = set()

    def fail(self, document, what):
        self.failures.append(f'{document}: {what}')

    @functools.cache
    def parsed(self, path):
        return markdown.split(path.read_text(encoding='utf-8'))

    def check_links(self, document, prose):
        targets, addresses = markdown.links(prose)
        for target in targets:
            name, _, anchor = target.partition('#')
            if target.startswith('mailto:'):
                continue
            path = (self.root / document).parent / name if name else self.root / document
            if name.startswith('/') or not path.exists():
                self.fail(document, f'the link to {target} leads nowhere')
            elif anchor and (path.suffix != '.md' or anchor not in markdown.anchors(self.parsed(path)[1])):
                self.fail(document, f'the link to {target}: there is no heading of that name')
        known = self.addresses()
        for address in addresses:
            self.seen_addresses.add(address)
            if not ADDRESS.fullmatch(address):
                self.fail(document, f'{address} is no address')
            elif address not in known and '//example.' not in address:
                self.fail(document, f'{address} is not in {ADDRESS_LIST}: look at it, then add it there with the date')

    @functools.cache
    def addresses(self):
        known = {}
        path = self.root / ADDRESS_LIST
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines() if path.exists() else [], 1):
            if not line or line.startswith('#'):
                continue
            date, _, address = line.partition(' ')
            if not re.fullmatch(r'20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])', date) or not address:
                self.fail(ADDRESS_LIST, f'line {number} is not "YYYY-MM-DD ADDRESS"')
            if address in known:
                self.fail(ADDRESS_LIST, f'line {number}: {address} stands there twice')
            known[address] = date
        return known

    def check_spans(self, document, prose):
        for span in markdown.code_spans(prose):
            if NAMED.fullmatch(span) and not (self.root / span).exists():
                self.fail(document, f'there is no {span}')
            words = span.split()
            if words[:1] == ['hbf'] and len(words) > 1:
                self.check_hbf(document, span, words[1:])
            elif words[:1] == ['./dev'] and len(words) > 1 and not words[1].startswith('-'):
                if not re.search(rf'^ +{re.escape(words[1])}\b', self.dev_help(), re.MULTILINE):
                    self.fail(document, f'`{span}`: ./dev help knows no "{words[1]}"')

    @functools.cache
    def dev_help(self):
        return subprocess.run([self.root / 'dev', 'help'], capture_output=True, text=True, timeout=60, check=False).stdout

    @functools.cache
    def hbf_help(self, *path):
        done = subprocess.run([self.hbf, *path, '--help'], capture_output=True, text=True, timeout=60, check=False,
                              env=dict(os.environ, NO_COLOR='1'))
        return done.stdout if done.returncode == 0 else ''

    def check_hbf(self, document, span, words):
        path = []
        while words and re.fullmatch(r'[a-z]+', words[0]) and re.search(
                rf'^ +{words[0]} ', self.hbf_help(*path), re.MULTILINE):
            path.append(words.pop(0))
        if not path and words[0] not in ('help', '--help', '--version') and re.fullmatch(r'[a-z]+', words[0]):
            self.fail(document, f'`{span}`: hbf --help knows no "{words[0]}"')
            return
        text = self.hbf_help(*path)
        for word in words:
            option = word.split('=')[0].rstrip(',.')
            if option.startswith('-') and not re.search(rf'(?:^|[\s,]){re.escape(option)}(?=[\s,=]|$)', text, re.MULTILINE):
                self.fail(document, f'`{span}`: hbf {" ".join(path)} --help knows no "{option}"')

    def check_figures(self, document, prose):
        """A table about figures of the design: each row names where its figure comes from."""
        rows = 0
        for table in markdown.tables(prose):
            if not table[0][1][0].startswith('figure'):
                continue
            for line, cells in table[1:]:
                rows += 1
                text = ' '.join(cells[1:])
                _, addresses = markdown.links(text)
                if not addresses and not MEASURED.search(text):
                    self.fail(document, f'line {line}: "{cells[0]}" has neither a source nor "measured here by `COMMAND`"')
                for command in MEASURED.findall(text):
                    if not command.startswith(('hbf ', './dev ')):
                        self.fail(document, f'line {line}: `{command}` is no command of this project')
        return rows

    def check_ways(self, document):
        """docs/internals.md lists the files on the way of bytes, six at most, with what to look for in each."""
        blocks, _ = self.parsed(self.root / document)
        ways = [found for block in blocks if (found := re.findall(r'^ \d  (\S+)  +(\S.*)$', block.text, re.MULTILINE))]
        if len(ways) != 2:
            self.fail(document, f'it draws the way of a copy and that of a token\'s KV; {len(ways)} were found')
        for found in ways:
            if len(found) != 6:
                self.fail(document, f'it says that six files hold a way, and lists {len(found)}: {found[:1]}')
            for path, names in found:
                text = (self.root / path).read_text(encoding='utf-8') if (self.root / path).is_file() else ''
                for name in re.findall(r'\w+(?=::|\b)', names):
                    if not re.search(rf'\b{name}\b', text):
                        self.fail(document, f'{path} has no "{name}"')

    def check_fault_classes(self, document):
        """Every kind of damage that a report can name is explained to its reader."""
        text = (self.root / 'conformance/suite/verdict.hpp').read_text(encoding='utf-8')
        named = re.findall(r'= "([a-z -]+)"', re.search(r'namespace fault \{(.*?)\}', text, re.DOTALL)[1])
        tables = markdown.tables(self.parsed(self.root / document)[1])
        explained = {cells[0] for table in tables if table[0][1][0] == 'fault class' for _, cells in table[1:]}
        for missing in sorted(set(named) - explained):
            self.fail(document, f'the fault class "{missing}" is not explained')
        for unknown in sorted(explained - set(named)):
            self.fail(document, f'no report names a fault class "{unknown}"')


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / 'build').resolve()
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else SOURCE
    checker = Checker(root, build)
    documents, figures = list_documents(root), 0
    for document in documents:
        prose = checker.parsed(root / document)[1]
        checker.check_links(document, prose)
        checker.check_spans(document, prose)
        figures += checker.check_figures(document, prose)
    if 'docs/internals.md' in documents:
        checker.check_ways('docs/internals.md')
    if 'docs/conformance.md' in documents:
        checker.check_fault_classes('docs/conformance.md')
    for address in sorted(set(checker.addresses()) - checker.seen_addresses):
        checker.fail(ADDRESS_LIST, f'no document names {address} any more')
    print(f'{len(documents)} documents, {len(checker.seen_addresses)} addresses, {figures} figures')
    for failure in checker.failures:
        print(failure, file=sys.stderr)
    return 1 if checker.failures or not documents else 0


if __name__ == '__main__':
    sys.exit(main())
