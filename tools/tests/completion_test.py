# SPDX-License-Identifier: Apache-2.0
"""Completion as the shells do it: bash, and zsh and fish where they are installed.

Run: completion_test.py HBF
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

HBF = os.path.abspath(sys.argv[1])


class Shell(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-completion-')
        self.addCleanup(self.folder.cleanup)
        for name in ('bin', 'a folder'):
            os.mkdir(os.path.join(self.folder.name, name))
        os.symlink(HBF, os.path.join(self.folder.name, 'bin', 'hbf'))
        for name in ('a report.json', 'b.json'):
            with open(os.path.join(self.folder.name, name), 'w', encoding='ascii'):
                pass
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_')}
        self.env.update(HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name,
                        PATH=os.path.join(self.folder.name, 'bin') + ':' + self.env.get('PATH', ''), TERM='dumb', LC_ALL='C',
                        INPUTRC='/dev/null', PS1='ready> ', HISTFILE='/dev/null')

    def run_shell(self, *words):
        done = subprocess.run(words, env=self.env, cwd=self.folder.name, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.stderr, '', words)
        return done.stdout

    def typed(self, shell, start, keys, until):
        """What a terminal shows once `keys` are typed into a shell whose prompt is 'ready> '; ends with `until`."""
        child, master = pty.fork()
        if child == 0:
            os.chdir(self.folder.name)
            os.execvpe(shell[0], shell, self.env)
        seen = b''
        try:
            for wait_for, send in ((b'ready> ', start), (b'begin\r\n', keys), (until, 'exit\n')):
                while wait_for not in seen:
                    if not select.select([master], [], [], 60)[0]:
                        raise AssertionError(f'{wait_for} did not come: {seen}')
                    seen += os.read(master, 65536)
                os.write(master, send.encode())
        finally:
            os.close(master)
            os.waitpid(child, 0)
        return seen.decode(errors='replace')


@unittest.skipUnless(shutil.which('bash'), 'bash is not installed')
class Bash(Shell):
    def complete(self, *words):
        script = ('source <(hbf completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hbf; '
                  '((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; complete -p hbf >/dev/null')
        return self.run_shell('bash', '--norc', '--noprofile', '-c', script, 'test', *words).splitlines()

    def test_commands_options_and_choices(self):
        self.assertEqual(self.complete('hbf', 'conf'), ['conformance', 'config'])
        self.assertEqual(self.complete('hbf', 'config', 'sh'), ['show'])
        self.assertEqual(self.complete('hbf', 'probe', '--ex'), ['--explain'])
        self.assertEqual(self.complete('hbf', 'bandwidth', '--pages', 't'), ['thp'])
        self.assertEqual(self.complete('hbf', 'help', 'ver'), ['version'])
        self.assertEqual(self.complete('hbf', 'probe', '--nothing'), [])
        self.assertIn('--json', self.complete('hbf', 'conformance', 'diff', '--'))

    def test_words_that_bash_cuts_at_equals_signs(self):
        self.assertEqual(self.complete('hbf', 'bandwidth', '--pages', '=', 't'), ['thp'])
        self.assertEqual(self.complete('hbf', 'bandwidth', '--pages', '='), ['4k', 'thp', '2m', '1g', 'best'])

    def test_lists_go_on_after_a_comma(self):
        self.assertEqual(self.complete('hbf', 'corruption', '--pattern', 'solid,wal'), ['solid,walking'])

    def test_files_and_folders(self):
        self.assertEqual(self.complete('hbf', 'conformance', 'verify', 'a re'), ['a report.json'])
        self.assertEqual(self.complete('hbf', 'bandwidth', '--output', '=', 'b.'), ['b.json'])
        self.assertEqual(self.complete('hbf', 'probe', '--root', 'a'), ['a folder'])

    def test_names_that_only_this_machine_knows(self):
        self.assertIn('dma.copy.guard_bytes_untouched', self.complete('hbf', 'conformance', '--filter', 'dma.copy.gu'))
        self.assertIn('cancel', self.complete('hbf', 'conformance', '--mask', 'c'))
        self.assertIn('drop-tail', self.complete('hbf', 'corruption', '--inject', 'drop'))

    def test_typed_into_a_terminal(self):
        seen = self.typed(['bash', '--norc', '--noprofile', '-i'], 'source <(hbf completion bash); echo be\'\'gin\n',
                          'hbf versi\t--js\t\n', b'"commit"')
        self.assertIn('"schema": "hbf.version"', seen)

    def test_a_command_that_cannot_be_run_completes_nothing(self):
        script = 'source <(hbf completion bash); COMP_WORDS=(/no/such/hbf ""); COMP_CWORD=1; _hbf; echo "${#COMPREPLY[@]}"'
        self.assertEqual(self.run_shell('bash', '--norc', '--noprofile', '-c', script).strip(), '0')


@unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
class Zsh(Shell):
    START = 'autoload -Uz compinit && compinit -u -D; source <(hbf completion zsh); echo be\'\'gin\n'

    def press(self, keys, until):
        return self.typed(['zsh', '-f', '-i'], "PS1='ready> '; unsetopt zle_bracketed_paste; " + self.START, keys, until)

    def test_typed_into_a_terminal(self):
        self.assertIn('"schema": "hbf.version"', self.press('hbf versi\t--js\t\n', b'"commit"'))

    def test_choices_and_files(self):
        self.assertIn('b.json: no mistake found', self.press('hbf config check b.j\t\n', b'no mistake'))
        self.assertIn("--json, --jsonl", self.press('hbf bandwidth --json --jsonl --pages=th\t\n', b'exclude'))


@unittest.skipUnless(shutil.which('fish'), 'fish is not installed')
class Fish(Shell):
    def complete(self, line):
        script = f'hbf completion fish | source; complete -C {line!r}'
        return [one.split('\t')[0] for one in self.run_shell('fish', '--no-config', '-c', script).splitlines()]

    def test_commands_options_and_choices(self):
        self.assertEqual(sorted(self.complete('hbf conf')), ['config', 'conformance'])
        self.assertEqual(self.complete('hbf config sh'), ['show'])
        self.assertEqual(self.complete('hbf bandwidth --pages t'), ['thp'])
        self.assertEqual(self.complete('hbf bandwidth --pages=t'), ['--pages=thp'])
        self.assertEqual(self.complete('hbf probe --nothing'), [])

    def test_files_and_folders(self):
        self.assertIn('b.json', self.complete('hbf config check b'))
        self.assertEqual([re.sub(r'\\', '', one) for one in self.complete('hbf probe --root a')], ['a folder/'])

    def test_each_has_its_meaning(self):
        text = self.run_shell('fish', '--no-config', '-c', "hbf completion fish | source; complete -C 'hbf prob'")
        self.assertRegex(text, r'^probe\t\S')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
