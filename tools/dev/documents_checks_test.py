#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of the documents find what they are for: documents with one thing wrong each, against a stand-in for hbf."""

import os
import pathlib
import tempfile
import unittest

import docs_site
import documents_test
from documents import markdown, rules, run_commands
from documents_commands_test import Document

HBF = """#!/bin/sh
case "$*" in
    --help) printf 'hbf\\n\\n  probe    find\\n  bandwidth  measure\\n' ;;
    'probe --help') printf 'options\\n  -h,--help  this text\\n  --json  one document\\n' ;;
    *--help) printf 'options\\n' ;;
    probe) printf 'dram0  hbm  14.4 GiB  of node 0\\nHBF ready: host 0.1.0, 3 tiers\\n' ;;
    *) echo "hbf: no $*" >&2; exit 2 ;;
esac
"""


class Scene(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name) / 'root'
        self.build = pathlib.Path(holder.name) / 'out'
        for folder in (self.root / 'docs', self.root / '.ci', self.build / 'tools'):
            folder.mkdir(parents=True)
        self.write(self.build / 'tools/hbf', HBF)
        self.write(self.root / 'dev', '#!/bin/sh\nprintf "  test   run the tests\\n"\n')
        self.write(self.root / '.ci/run', "step 'tests' 40 ./dev test\n")
        os.chmod(self.build / 'tools/hbf', 0o755)
        os.chmod(self.root / 'dev', 0o755)

    @staticmethod
    def write(path, text):
        path.write_text(text, encoding='utf-8')

    def facts(self, text):
        self.write(self.root / 'docs/x.md', text)
        checker = documents_test.Checker(self.root, self.build)
        prose = checker.parsed(self.root / 'docs/x.md')[1]
        checker.check_links('docs/x.md', prose)
        checker.check_spans('docs/x.md', prose)
        checker.check_figures('docs/x.md', prose)
        return '\n'.join(checker.failures)

    def commands(self, text):
        self.write(self.root / 'docs/x.md', text)
        document = Document(self.root, self.build, 'docs/x.md')
        scratch = self.root.parent / f'scratch{len(os.listdir(self.root.parent))}'
        scratch.mkdir()
        document.run(scratch)
        return document


class Facts(Scene):
    def test_what_is_right_passes(self):
        self.write(self.root / 'docs/addresses.txt', '2026-11-29 https://hbf.test/a_b\n')
        self.assertEqual(self.facts('# A `b` C\n[x](#a-b-c), [dev](../dev), <https://hbf.test/a_b>, `hbf probe --json`\n\n'
                                    '| figure | is |\n|---|---|\n| 1 GB/s | measured here by `hbf probe` |\n'), '')

    def test_links(self):
        self.assertIn('missing.md leads nowhere', self.facts('[x](missing.md)'))
        self.assertIn('no heading of that name', self.facts('# A\n[x](#b)'))
        self.assertIn('no heading of that name', self.facts('# A\n[x](x.md#a-1)'))
        self.assertEqual(self.facts('# A\n# A\n[x](x.md#a-1)'), '')
        self.assertIn('leads nowhere', self.facts('[x](/etc/passwd)'))
        self.assertEqual(self.facts('`[x](missing.md)`\n\n```text\n[x](missing.md)\n```\n'), '')

    def test_addresses(self):
        self.assertIn('is not in docs/addresses.txt', self.facts('see https://hbf.test/new'))
        self.assertIn('is no address', self.facts('[x](https://nowhere)'))
        self.write(self.root / 'docs/addresses.txt', 'yesterday https://hbf.test/new\n')
        self.assertIn('is not "YYYY-MM-DD ADDRESS"', self.facts('see https://hbf.test/new'))

    def test_names_in_the_text(self):
        self.assertIn('there is no docs/absent.md', self.facts('`docs/absent.md`'))
        self.assertIn('knows no "prob"', self.facts('`hbf prob`'))
        self.assertIn('knows no "--jsn"', self.facts('`hbf probe --jsn`'))
        self.assertIn('knows no "tset"', self.facts('`./dev tset`'))

    def test_figures_without_a_source(self):
        table = '| figure of the design | is |\n|---|---|\n| 320 GB/s | {} |\n'
        self.assertIn('neither a source nor', self.facts(table.format('fast')))
        self.assertIn('is no command of this project', self.facts(table.format('measured here by `magic`')))
        self.assertEqual(self.facts(table.format('[x](https://example.org/y)')), '')


class Commands(Scene):
    def test_what_is_right_passes(self):
        document = self.commands('```sh\nexport A=1 # kept\ntest $A = 1\nhbf prob    # exit 2\n```\n'
                                 '```console\n$ hbf probe\ndram0 hbm 20.1 GiB …\n…\nHBF ready: host 0.2.0, 2 tiers\n```\n')
        self.assertEqual(document.failures, [])
        self.assertEqual(document.ran, 4)

    def test_exit_codes(self):
        self.assertIn('ended with exit code 2, the document says 0', self.commands('```sh\nhbf prob\n```\n').failures[0])
        self.assertIn('ended with exit code 0, the document says 1',
                      self.commands('```sh\nhbf probe # exit 1\n```\n').failures[0])
        self.assertIn('exit code 2', self.commands('    hbf prob\n').failures[0])
        self.assertIn('exit code 2', self.commands('```\nhbf prob | cat\n```\n').failures[0])

    def test_output(self):
        failures = self.commands('```console\n$ hbf probe\nHBF ready: gpu 0.1.0, 3 tiers\n```\n').failures
        self.assertIn('does not print what the document shows: HBF ready: gpu', failures[0])
        failures = self.commands('```console\n$ hbf probe\nHBF ready: …\ndram0 …\n```\n').failures
        self.assertIn('shows: dram0', failures[0])

    def test_unknown_and_unended_commands(self):
        self.assertIn('no rule says', self.commands('```sh\nfrobnicate\n```\n').failures[0])
        self.assertIn('no rule says', self.commands('```sh\n./dev frobnicate\n```\n').failures[0])
        self.assertIn('does not end', self.commands('```sh\nif true; then hbf probe\n```\n').failures[0])
        self.assertEqual(self.commands('```sh\nif hbf prob; then\n    false\nfi\n```\n').failures, [])
        self.assertEqual(self.commands("```sh\ncat > a <<'END'\n# a $b\nEND\ngrep -q '[$]b' a\n```\n").failures, [])

    def test_what_is_run_elsewhere_must_be_there(self):
        self.assertEqual(self.commands('```sh\n./dev test\n```\n').failures, [])
        self.write(self.root / '.ci/run', '')
        self.assertIn('does not run it any more', self.commands('```sh\n./dev test\n```\n').failures[0])

    def test_a_document_with_a_test_of_its_own(self):
        rules.FOLLOWED['docs/x.md'] = ('.ci/run', 'followed here', 'to the letter')
        self.addCleanup(rules.FOLLOWED.pop, 'docs/x.md')
        self.assertIn('does not run its commands any more', self.commands('```sh\nfrobnicate\n```\n').failures[0])
        self.write(self.root / '.ci/run', 'followed here')
        document = self.commands('```sh\nfrobnicate\n```\n')
        self.assertEqual((document.failures, document.ran), ([], 0))
        self.assertIn('1 commands run by another test', document.notes[0])

    def test_bounded_forms_say_so(self):
        document = self.commands('```sh\nhbf bandwidth > out   # exit 2\n```\n')
        self.assertEqual(document.failures, [])
        self.assertIn('a run of 25 seconds', document.notes[0])
        self.assertEqual(rules.before_comment('a b | c  # d', '-x'), 'a b -x | c  # d')

    def test_demo_is_what_the_script_runs(self):
        self.write(self.root / 'dev', 'demo() {\n    build/tools/hbf probe\n    build/tools/hbf probe || x=$?\n'
                                      '    build/tools/hbf prob\n}\n')
        self.assertIn('build/tools/hbf prob', self.commands('```sh\n./dev demo\n```\n').failures[0])
        self.write(self.root / 'dev', 'demo() {\n}\n')
        self.assertIn('were not found', self.commands('```sh\n./dev demo\n```\n').failures[0])

    def test_a_command_that_hangs_ends(self):
        work = self.root.parent / 'work'
        work.mkdir()
        done = run_commands.run(['echo a', 'sleep 1000', 'echo b'], work, self.root.parent / 'r', dict(os.environ), 1)
        self.assertEqual([code for code, _ in done], [0, None, None])


class Pages(Scene):
    def check(self, **pages):
        for name, text in pages.items():
            self.write(self.root / 'docs' / name.replace('_', '.'), text)
        site = docs_site.Site(self.root / 'docs')
        self.assertGreater(site.check(), 0)
        return '\n'.join(site.wrong)

    def test_what_is_right_passes(self):
        self.assertEqual(self.check(a_html='<a href="b.html#x">, <a href="https://hbf.test/">, <img src="a.css?v=1">',
                                    b_html='<p id="x">, <a href="#x">', a_css='p { background: url(b.html) }'), '')

    def test_links_that_lead_nowhere(self):
        self.assertIn('c.html leads nowhere', self.check(a_html='<a href="c.html">'))
        self.assertIn('no such place', self.check(a_html='<a href="a.html#x">'))
        self.assertIn('leaves the site', self.check(a_html='<a href="../../a.html">'))
        self.assertIn('leaves the site', self.check(a_html='<script src="/javascript/a.js">'))

    def test_nothing_is_loaded_from_elsewhere(self):
        for text in ('<script src="https://hbf.test/a.js">', "<link rel='stylesheet' href='//hbf.test/a.css'>"):
            self.assertIn('must need no network', self.check(a_html=text))
        self.assertIn('must need no network', self.check(a_html='', b_css='@import "https://hbf.test/a.css";'))


class Reading(unittest.TestCase):
    def test_lists_are_no_code(self):
        self.assertEqual(markdown.split('- a\n\n    hbf probe\n')[0], [])
        self.assertEqual(markdown.split('a\n\n    hbf probe\n')[0][0].text, 'hbf probe')

    def test_anchors_as_readers_know_them(self):
        self.assertEqual(markdown.anchors('## `libhbf.so` and the C++ API\n## Übung: 1, 2'),
                         {'libhbfso-and-the-c-api', 'übung-1-2'})


if __name__ == '__main__':
    unittest.main(verbosity=2)
