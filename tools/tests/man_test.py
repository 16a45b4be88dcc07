# SPDX-License-Identifier: Apache-2.0
"""Man pages as a formatter reads them: no warning, every section, nothing swallowed.

Run: man_test.py HBF PAGE...      (the pages that the build made)
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

HBF = os.path.abspath(sys.argv[1])
BUILT = [os.path.abspath(path) for path in sys.argv[2:]]
FORMATTERS = [
    ['groff', '-ww', '-man', '-Tutf8', '-Kutf8', '-rLL=100n'],
    ['mandoc', '-Tutf8', '-Wwarning'],
]
SECTIONS = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'ENVIRONMENT', 'FILES', 'EXAMPLES', 'SEE ALSO']


def hbf(*words):
    done = subprocess.run([HBF, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def commands():
    names = re.findall(r'^\\fBhbf\\-([a-z]+)\\fR\(1\)$', hbf('help', '--man'), re.M)
    assert 'probe' in names, names
    return names


class Man(unittest.TestCase):
    def rendered(self, page):
        text = None
        for words in FORMATTERS:
            if shutil.which(words[0]):
                done = subprocess.run(words, input=page, capture_output=True, text=True, timeout=60, check=False)
                # The pages have no date, so that any day makes the same ones.
                usual = re.compile('missing date|see above the output')
                said = [line for line in done.stderr.splitlines() if not usual.search(line)]
                self.assertEqual(said, [], page[:200])
                text = text or re.sub('.\x08|\x1b\\[[0-9;]*m', '', done.stdout).replace('\u2212', '-').replace('\u2010', '-')
        return text

    def test_every_command_has_a_page_without_a_warning(self):
        for name in commands():
            with self.subTest(command=name):
                text = self.rendered(hbf('help', '--man', name))
                self.assertEqual([line for line in text.splitlines() if line in SECTIONS], SECTIONS)
                self.assertIn(f'hbf-{name} - ', text)
                # What the help names, the page names as it has to be typed.
                for option in set(re.findall(r'^ +(--[a-z-]+)', hbf(name, '--help'), re.M)):
                    self.assertIn(option, text)
                self.assertIn('HBF_PLUGIN_PATH', text)
                self.assertIn('~/.config/hbf/hbf.toml', text)

    def test_the_page_of_the_program_leads_to_the_others(self):
        text = self.rendered(hbf('help', '--man'))
        for name in commands():
            self.assertIn(f'hbf-{name}(1)', text)

    def test_the_build_made_a_page_for_every_command(self):
        if not BUILT:
            self.skipTest('this build makes no man pages: what it builds does not run here')
        expected = {'hbf.1'} | {f'hbf-{name}.1' for name in commands()}
        self.assertEqual({os.path.basename(path) for path in BUILT}, expected,
                         'command_names in tools/meson.build and all_commands() disagree')
        for path in BUILT:
            name = os.path.basename(path)[:-2].removeprefix('hbf').removeprefix('-')
            with open(path, encoding='utf-8') as page:
                self.assertEqual(page.read(), hbf('help', '--man', *([name] if name else [])))

    def test_a_command_that_is_none_has_none(self):
        done = subprocess.run([HBF, 'help', '--man', 'nothing'], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ''))


if __name__ == '__main__':
    if not any(shutil.which(words[0]) for words in FORMATTERS):
        print('neither groff nor mandoc is here: no man page is looked at')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
