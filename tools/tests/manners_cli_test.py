# SPDX-License-Identifier: Apache-2.0
"""What every command of hbf does alike: help, JSON also on failure, colour, progress, signals, output that goes nowhere.

Run: manners_cli_test.py HBF SIM_PLUGIN [PLUGIN_FOLDER]      (without the folder: nothing that needs the host plugin)
"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HBF, SIM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PLUGINS = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
NOBODY = 65534
QUICK = ['--tier', 'dram0', '--size', '4MiB', '--samples', '6', '--warm-up', '0.01', '--time', '30']
needs_host = unittest.skipUnless(PLUGINS, 'the host plugin is not built')


def listed(text):
    """Names under the headings of a help that lists commands."""
    out, inside = [], False
    for line in text.splitlines():
        if line.endswith(':') and not line.startswith(' '):
            inside = line not in ('Options:', 'Exit status:', 'Arguments:', 'Examples:')
        elif inside and (found := re.match(r'  ([a-z]+)(?:  |$)', line)):
            out.append(found.group(1))
    return out


def every_command():
    """[['bandwidth'], ['config'], ['config', 'check'], ...]: from the help itself."""
    env = {**os.environ, 'COLUMNS': '100'}
    run = lambda *words: subprocess.run([HBF, *words], capture_output=True, text=True, check=True, env=env).stdout
    out = []
    for name in listed(run('help')):
        out.append([name])
        text = run(name, '--help')
        if '\nCommands:' in text:  # not the command that `hbf emulate` runs
            out += [[name, child] for child in listed('Commands:' + text.split('\nCommands:')[1].split('\n\n')[0])]
    return out


class Manners(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-manners-')
        self.addCleanup(self.folder.cleanup)
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith(('HBF_', 'CLICOLOR')) and k not in ('NO_COLOR', 'COLUMNS')}
        home = self.folder.name
        self.env = {**kept, 'HOME': home, 'XDG_CACHE_HOME': home, 'XDG_CONFIG_HOME': home, 'TERM': 'xterm'}
        if PLUGINS:
            self.env['HBF_PLUGIN_PATH'] = PLUGINS

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def hbf(self, *words, before=(), stdout=subprocess.PIPE, **env):
        env = {k: v for k, v in {**self.env, **env}.items() if v is not None}
        return subprocess.run([*before, HBF, *words], env=env, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False)

    def on_terminal(self, *words, columns=120, until=None, then=None, by_key=False, **env):
        """Runs hbf on a terminal of its own. Once `until` was seen, sends the signal `then`, by the key that a person
        presses or to the process alone. Gives exit code and what was seen."""
        child, master = pty.fork()
        if child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
            os.execve(HBF, [HBF, *words], {**self.env, **env})
        seen = b''
        while select.select([master], [], [], 120)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
            if until and until in seen:
                until = None
                if by_key:
                    os.write(master, b'\x03')
                else:
                    os.kill(child, then)
        os.close(master)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.assertIsNone(until, f'{until} was not seen: {seen}')
        return code, seen.decode(errors='replace')


class Help(Manners):
    def test_every_command_and_child_explains_itself(self):
        commands = every_command()
        self.assertIn(['config', 'check'], commands)
        self.assertGreater(len(commands), 12)
        for command in commands:
            with self.subTest(command=command):
                done = self.hbf(*command, '--help', COLUMNS='80')
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                self.assertTrue(done.stdout.startswith('Usage: hbf ' + ' '.join(command)), done.stdout)
                for part in ('\nExit status:\n  0 ', '\n  2 ', '\n  3 ', '\nExamples:\n  '):
                    self.assertIn(part, done.stdout)
                self.assertEqual(self.hbf('help', *command, COLUMNS='80').stdout, done.stdout)
                self.assertEqual(self.hbf(*command, '-h', COLUMNS='80').stdout, done.stdout)
                self.assertNotRegex(done.stdout, r'\x1b|[ \t]\n')
                kept = re.compile(r'^ +(hbf|[A-Z_]+=|p\d|eval) ?')
                self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80 and not kept.match(line)], [])

    def test_a_mistyped_option_is_named_with_the_right_one(self):
        for command in every_command():
            text = self.hbf(*command, '--help', COLUMNS='100').stdout
            for name in sorted(set(re.findall(r'--[a-z][a-z-]{4,}', text.split('\nExamples:')[0]))):
                with self.subTest(command=command, name=name):
                    wrong = name[:4] + name[5:]
                    done = self.hbf(*command, wrong)
                    self.assertEqual((done.returncode, done.stdout), (2, ''), wrong)
                    self.assertIn(f"unknown option '{wrong}'", done.stderr)
                    self.assertIn(f'did you mean "{name}"', done.stderr)

    def test_a_second_command_is_not_swallowed(self):
        for words in (['version', 'probe'], ['probe', 'bandwidth'], ['config', 'path', 'list']):
            done = self.hbf(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ''), words)
            self.assertIn(f"'{words[-1]}'", done.stderr)

    def test_nothing_and_unknown_things(self):
        done = self.hbf()
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('Usage: hbf COMMAND', done.stderr)
        done = self.hbf('help', 'porbe')
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "probe"', done.stderr)
        done = self.hbf('config')
        self.assertEqual(done.returncode, 2)
        self.assertIn('a command is needed', done.stderr)

    def test_version(self):
        said = self.hbf('--version').stdout
        self.assertEqual(self.hbf('version').stdout, said)
        document = json.loads(self.hbf('version', '--json').stdout)
        self.assertIn('hbf ' + document['tool_version'], said)
        self.assertIn(f"plugin ABI {document['plugin_abi']['major']}.{document['plugin_abi']['minor']}", said)


class JsonOnFailure(Manners):
    def failed(self, code, word, *words, said='', **env):
        with self.subTest(words=words):
            done = self.hbf(*words, **env)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual(document['schema'], 'hbf.error')
            self.assertEqual((document['schema_version'], document['exit_code']), (1, code))
            self.assertEqual(document['command'][1:], list(words))
            self.assertEqual(document['error']['code'], word)
            self.assertIn(said, document['error']['message'])
            self.assertIn(said, done.stderr)

    def test_a_wrong_command_line(self):
        for words, said in ((['bandwidth', '--json', '--bogus'], '--bogus'), (['bandwidth', '--json', '--csv'], 'exclude'),
                            (['bandwidth', '--json', '--profile', '/no/such'], '/no/such'),
                            (['bandwidth', '--json', '--size'], '--size'),
                            (['probe', '--json', '--root', '/no/such'], '/no/such'),
                            (['version', '--json', 'x'], "'x'"), (['config', 'check', '--json'], 'FILE'),
                            (['corruption', '--json', '--device', 'nosuch'], 'nosuch'),
                            (['doctor', '--json', '--root', '/no/such'], '/no/such'),
                            (['doctor', '--json', '--check', 'memry'], 'memry'),
                            (['plugin', 'check', '--json', '/no/such'], '/no/such'),
                            (['plugin', 'new', '--json', 'No Name'], 'No Name'),
                            (['conformance', '--json', '-', '--device', 'nosuch'], 'nosuch'),
                            (['conformance', '--json=-', '--filter'], '--filter'),
                            (['conformance', '--json', '-', '--plugin', '/no/such.so'], '/no/such.so'),
                            (['conformance', '--list', '--json', '-', '--filter', 'dma.copi'], 'dma.copi'),
                            (['conformance', 'mutants', '--json', '--filter', 'nothing-like-it'], 'nothing-like-it')):
            self.failed(2, 'usage', *words, said=said)

    def test_an_error(self):
        for words, said in ((['config', 'check', '--json', '/no/such'], '/no/such'),
                            (['conformance', 'diff', '--json', '/no/a', '/no/b'], '/no/a'),
                            (['conformance', 'package', '--json', '/no/a', '--statement', '/no/s', '-x'], '-x')):
            self.failed(2 if '-x' in words else 3, 'usage' if '-x' in words else 'error', *words, said=said)
        self.failed(3, 'error', 'config', 'show', '--json', said='HBF_PROBE_TIMEOUT', HBF_PROBE_TIMEOUT='soon')
        self.failed(3, 'error', 'bandwidth', '--json', said='none-such', HBF_PLUGINS='none-such')

    def test_what_has_a_report_reports(self):
        done = self.hbf('probe', '--json', HBF_PLUGINS='none-such')
        document = json.loads(done.stdout)
        self.assertEqual((done.returncode, document['schema'], document['ready']), (3, 'hbf.probe', False))
        done = self.hbf('config', 'check', '--json', self.write('bad.toml', '[plugins]\npin = 3\nalow = 1\n'))
        document = json.loads(done.stdout)
        self.assertEqual((done.returncode, document['valid'], len(document['mistakes'])), (1, False, 2))
        done = self.hbf('conformance', 'verify', '--json', '/no/such')
        document = json.loads(done.stdout)
        self.assertEqual((done.returncode, document['readable'], document['accepted']), (3, False, False))

    @needs_host
    def test_launches_say_it_once(self):
        self.failed(2, 'usage', 'bandwidth', '--json', '--launches', '2', '--tier', 'drm0', said='drm0')

    def test_stdout_stays_empty_where_the_document_goes_elsewhere_or_was_not_asked_for(self):
        for words in (['bandwidth', '--bogus'], ['bandwidth', '--json', '-o', self.path('r'), '--bogus'],
                      ['conformance', '--json', self.path('r'), '--plugin', '/no/such.so']):
            done = self.hbf(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ''), words)
            self.assertFalse(os.path.exists(self.path('r')))


class Colour(Manners):
    CODE = '\x1b['

    def piped(self, *words, **env):
        return self.hbf('config', 'show', *words, **env).stdout

    def shown(self, *words, **env):
        code, seen = self.on_terminal('config', 'show', *words, **env)
        self.assertEqual(code, 0, seen)
        return seen

    def test_who_decides(self):
        self.assertNotIn(self.CODE, self.piped())
        self.assertIn(self.CODE, self.shown())
        self.assertNotIn(self.CODE, self.shown(NO_COLOR='1'))
        self.assertIn(self.CODE, self.shown(NO_COLOR=''))
        self.assertNotIn(self.CODE, self.shown(TERM='dumb'))
        self.assertIn(self.CODE, self.piped(CLICOLOR_FORCE='1'))
        self.assertNotIn(self.CODE, self.piped(CLICOLOR_FORCE='0'))
        self.assertNotIn(self.CODE, self.piped(CLICOLOR_FORCE='1', NO_COLOR='1'))
        self.assertIn(self.CODE, self.piped('--color', 'always', NO_COLOR='1'))
        self.assertNotIn(self.CODE, self.shown('--color=never'))
        self.assertNotIn(self.CODE, self.shown('--colour', 'never', CLICOLOR_FORCE='1'))
        self.assertNotIn(self.CODE, self.piped('--color', 'auto'))
        self.assertNotIn(self.CODE, self.piped('--json', '--color', 'always'))

    @needs_host
    def test_a_file_gets_none(self):
        code, seen = self.on_terminal('bandwidth', *QUICK, '-o', self.path('r.txt'))
        self.assertEqual(code, 0, seen)
        with open(self.path('r.txt'), encoding='utf-8') as report:
            text = report.read()
        self.assertIn('PASS', text)
        self.assertNotIn(self.CODE, text)

    def test_help(self):
        code, seen = self.on_terminal('help')
        self.assertEqual(code, 0)
        self.assertIn('\x1b[1m', seen)


class Progress(Manners):
    ONE = ['conformance', '--plugin', SIM, '--filter', 'dma.copy.guard_bytes_untouched', '--seed', '1']

    def test_on_a_terminal_only_and_within_its_width(self):
        code, seen = self.on_terminal(*self.ONE, columns=40)
        self.assertEqual(code, 0, seen)
        shown = re.findall(r'\r\x1b\[K([^\r\n]+)', seen)
        self.assertTrue(shown, seen)
        self.assertLess(max(len(line) for line in shown if not line.startswith('\x1b')), 40)
        code, seen = self.on_terminal(*self.ONE, TERM='dumb')
        self.assertEqual(code, 0, seen)
        self.assertNotIn('\x1b', seen)
        done = self.hbf(*self.ONE)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertNotRegex(done.stdout, '[\r\x1b]')


class Signals(Manners):
    """A key reaches everything on the terminal, a signal only the process it is sent to: both end with a report."""

    def ended(self, *words, until, report=None):
        for then, by_key in ((signal.SIGINT, True), (signal.SIGTERM, False)):
            with self.subTest(words=words, signal=then):
                if report and os.path.exists(report):
                    os.remove(report)
                begun = time.monotonic()
                code, seen = self.on_terminal(*words, until=until, then=then, by_key=by_key)
                self.assertEqual(code, 128 + then, seen)
                self.assertLess(time.monotonic() - begun, 60, seen)
                if report and os.path.exists(report):
                    with open(report, encoding='utf-8') as file:
                        yield json.load(file)
                left = [name for name in os.listdir(self.folder.name) if name.startswith('.')]
                self.assertEqual(left, [], 'a half-written file is left')

    @needs_host
    def test_bandwidth(self):
        report = self.path('r.json')
        for document in self.ended('bandwidth', '--tier', 'dram0', '--size', '4MiB', '--time', '600', '--samples', '100000',
                                   '--json', '-o', report, until=b'dram0', report=report):
            self.assertTrue(document['interrupted'])

    @needs_host
    def test_bandwidth_launches(self):
        report = self.path('r.json')
        for document in self.ended('bandwidth', '--launches', '1000', *QUICK, '--json', '-o', report, until=b'launch 2',
                                   report=report):
            self.assertTrue(document['interrupted'])

    def test_conformance(self):
        report = self.path('r.json')
        documents = list(self.ended('conformance', '--plugin', SIM, '--skip', 'bandwidth', '--json', report, until=b'] ',
                                    report=report))
        self.assertEqual(len(documents), 2)
        for document in documents:
            self.assertEqual(document['verdict'], 'interrupted')
            wrong = [case for case in document['cases'] if case['status'] in ('fail', 'crash', 'hang', 'timeout')]
            self.assertEqual(wrong, [], 'a case that was stopped is no failed case')

    def test_mutants(self):
        for _ in self.ended('conformance', 'mutants', '--jobs', '1', until=b' runs: '):
            pass

    @needs_host
    def test_corruption(self):
        report = self.path('r.json')
        for document in self.ended('corruption', '--time', '600', '--bytes', '1MiB', '--no-self-test', '--json', '-o',
                                   report, until=b'dram0', report=report):
            self.assertIn('interrupted', json.dumps(document))


class Output(Manners):
    SHORT = [['help'], ['--help'], ['version'], ['version', '--json'], ['config', 'show'], ['config', 'list'],
             ['config', 'path'], ['conformance', '--list'], ['conformance', 'mutants', '--list'], ['completion', 'bash'],
             ['help', '--man'], ['doctor'], ['doctor', '--list'],
             ['probe', '--json'], ['conformance', '--help']]

    def test_a_full_disk_is_an_error(self):
        for words in self.SHORT:
            with self.subTest(words=words), open('/dev/full', 'w', encoding='utf-8') as full:
                done = self.hbf(*words, stdout=full)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn('No space left', done.stderr)

    def test_nobody_who_listens_is_an_error(self):
        for words in self.SHORT:
            with self.subTest(words=words):
                done = self.hbf(*words, before=['sh', '-c', 'exec "$0" "$@" >&-'])
                self.assertEqual(done.returncode, 3, done.stderr)

    def test_head_ends_it_quietly(self):
        done = self.hbf('conformance', '--list', before=['sh', '-c', '"$0" "$@" | head -n 1'])
        self.assertEqual((done.returncode, done.stderr, len(done.stdout.splitlines())), (0, '', 1))

    def test_any_locale(self):
        texts = {self.hbf('config', 'list', LC_ALL=name, LANG=name).stdout for name in ('C', 'C.UTF-8', 'xx_YY.NOWHERE', '')}
        self.assertEqual(len(texts), 1)
        odd = os.fsencode(self.folder.name) + b'/\xff\xfe.toml'
        with open(odd, 'w', encoding='ascii') as file:
            file.write('[plugins]\npin = 3\n')
        done = subprocess.run([HBF, 'config', 'check', '--json', odd], env={**self.env, 'LC_ALL': 'C'}, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        json.loads(done.stdout.decode('utf-8'))


class Places(Manners):
    """A home that is missing, or where nothing may be written: it works, and a line says what is left out."""

    @needs_host
    def test_no_home(self):
        nowhere = {'HOME': None, 'XDG_CACHE_HOME': None, 'XDG_CONFIG_HOME': None}
        done = self.hbf('probe', **nowhere)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('note: no probe cache: neither XDG_CACHE_HOME nor HOME', done.stderr)
        done = self.hbf('bandwidth', *QUICK, **nowhere)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('neither', self.hbf('config', 'path', **nowhere).stdout)

    @needs_host
    def test_folders_that_take_nothing(self):
        closed = {'HOME': '/proc', 'XDG_CACHE_HOME': '/proc/closed', 'XDG_CONFIG_HOME': '/proc/closed'}
        done = self.hbf('probe', **closed)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('note: no probe cache: /proc/closed', done.stderr)
        done = self.hbf('bandwidth', *QUICK, **closed)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_case_without_a_home(self):
        done = self.hbf('conformance', '--plugin', SIM, '--filter', 'dma.copy.guard_bytes_untouched', HOME=None,
                        XDG_CACHE_HOME=None, XDG_CONFIG_HOME=None)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class WithoutRoot(Manners):
    def machine(self):
        """A machine with a PCI bridge whose configuration ends where it ends for an ordinary user."""
        device = 'm/sys/bus/pci/devices/0000:00:01.0/'
        for name, text in (('vendor', '0x1234'), ('device', '0x5678'), ('class', '0x060400')):
            self.write(device + name, text + '\n')
        self.write(device + 'config', '\0' * 64)
        subprocess.run(['chmod', '-R', 'a+rX', self.folder.name], check=True)
        return self.path('m')

    def ordinary(self):
        if os.geteuid() != 0:
            return []
        if not shutil.which('setpriv'):
            self.skipTest('setpriv is not installed')
        before = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
        if subprocess.run([*before, 'test', '-x', HBF], check=False).returncode != 0:
            self.skipTest('an ordinary user cannot reach this build')
        return before

    def test_what_only_root_may_read_is_named(self):
        before, root = self.ordinary(), self.machine()
        own = {'HOME': None, 'XDG_CACHE_HOME': None, 'XDG_CONFIG_HOME': None, 'HBF_PLUGIN_PATH': None}
        done = self.hbf('probe', '--root', root, before=before, **own)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        notes = [line for line in done.stderr.splitlines() if 'without root' in line]
        self.assertEqual(len(notes), 1, done.stderr)
        self.assertIn('acs_redirect', notes[0])
        document = json.loads(self.hbf('probe', '--json', '--root', root, before=before, **own).stdout)
        self.assertIn('only root may', document['inventory']['settings']['acs_redirect']['error'])
        if os.geteuid() == 0:
            self.assertNotIn('without root', self.hbf('probe', '--root', root).stderr)

    def test_it_is_in_the_help(self):
        for command in ('probe', 'bandwidth', 'conformance', 'corruption', 'doctor'):
            self.assertIn('\nWithout root: ', self.hbf(command, '--help').stdout, command)

    @needs_host
    def test_an_ordinary_user_measures(self):
        before = self.ordinary()
        own = {'HOME': None, 'XDG_CACHE_HOME': None, 'XDG_CONFIG_HOME': None}
        done = self.hbf('bandwidth', *QUICK, before=before, **own)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
