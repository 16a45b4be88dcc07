# SPDX-License-Identifier: Apache-2.0
"""hbf conformance as people and scripts meet it: exit codes, reports, what is refused, what an interruption leaves.

Run: conformance_cli_test.py HBF SIM_PLUGIN HOSTILE_PLUGIN
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HBF, SIM, HOSTILE = (os.path.abspath(path) for path in sys.argv[1:4])
ONE = ['--filter', 'dma.copy.guard_bytes_untouched']


class Conformance(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-cli-')
        self.addCleanup(self.folder.cleanup)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'NO_COLOR'}
        self.env.update(HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name)

    def run_hbf(self, *arguments, env=None, **options):
        return subprocess.run([HBF, 'conformance', *arguments], env=self.env | (env or {}), text=True, timeout=600,
                              check=False, stdout=options.pop('stdout', subprocess.PIPE), stderr=subprocess.PIPE, **options)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def report(self, *arguments, code=0, env=None):
        done = self.run_hbf('--json', '-', *arguments, env=env)
        self.assertEqual(done.returncode, code, done.stdout[-3000:] + done.stderr)
        return json.loads(done.stdout)

    def test_a_run_is_reported_in_every_form(self):
        paths = {form: self.path(form) for form in ('json', 'junit', 'ocp', 'html')}
        done = self.run_hbf('--plugin', SIM, '--filter', 'dma.copy.guard_bytes_untouched,async.wait', '--seed', '0x5eed',
                            *(word for form, path in paths.items() for word in ('--' + form, path)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn('\x1b', done.stdout + done.stderr)
        self.assertRegex(done.stdout, r'self-test: (\d+)/\1 injected faults found')
        self.assertIn('\nCONFORMANT: ', done.stdout)
        with open(paths['json'], encoding='utf-8') as file:
            report = json.load(file)
        self.assertEqual((report['schema_version'], report['seed'], report['profile']), (1, '0x5eed', 'quick'))
        self.assertEqual(report['verdict'], 'conformant')
        self.assertTrue(report['emulated'])
        self.assertEqual(report['plugin']['path'], os.path.realpath(SIM))
        self.assertRegex(report['preflight']['summary'], r'^doctor: \d+ pass, ')
        self.assertIn('preflight: ' + report['preflight']['summary'], done.stdout)
        self.assertIn('kernel.version', [finding['id'] for finding in report['preflight']['findings']])
        self.assertRegex(report['plugin']['sha256'], r'^[0-9a-f]{64}$')
        for case in report['cases']:
            self.assertGreater(case['checks'], 0, case)
            self.assertLess(case['overhead_s'], 5, case)
        xml.etree.ElementTree.parse(paths['junit'])
        with open(paths['ocp'], encoding='utf-8') as file:
            self.assertTrue(all(json.loads(line) for line in file))
        with open(paths['html'], encoding='utf-8') as file:
            self.assertIn('CONFORMANT: ', file.read())

    def test_the_machine_need_not_be_looked_at(self):
        report = self.report('--plugin', SIM, *ONE, '--no-preflight')
        self.assertEqual(report['preflight'], {'summary': '', 'findings': []})

    def test_the_same_seed_gives_each_case_its_seed_alone_and_among_others(self):
        alone = self.report('--plugin', SIM, *ONE, '--seed', '77')['cases'][0]
        both = self.report('--plugin', SIM, '--filter', 'dma.copy.g*,dma.copy.o*', '--seed', '77')
        among = [case for case in both['cases'] if case['name'] == ONE[1] and not case['mask']][0]
        self.assertEqual(alone['seed'], among['seed'])
        self.assertIn('--filter dma.copy.guard_bytes_untouched --seed 0x4d', alone['replay'])

    def test_an_injected_fault_fails_and_its_command_repeats_it(self):
        report = self.report('--plugin', SIM, *ONE, '--inject', 'guard-write', code=1)
        self.assertEqual(report['verdict'], 'not conformant')
        self.assertEqual(report['inject'], {'faults': 'guard-write'})
        self.assertEqual(report['plugin']['name'], 'sim')
        self.assertEqual(report['cases'][0]['status'], 'fail')
        again = subprocess.run(report['cases'][0]['replay'].replace('hbf', HBF, 1), shell=True, env=self.env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn('dma.copy.guard_bytes_untouched', again.stdout)

    def test_cases_are_listed(self):
        listed = json.loads(self.run_hbf('--list', '--json', '-').stdout)
        names = [case['name'] for case in listed]
        self.assertEqual(names, sorted(names))
        self.assertGreater(len(names), 60)
        self.assertFalse([name for name in names if name.startswith(('lying.', 'selftest.'))])
        text = self.run_hbf('--list', '--filter', 'dma').stdout
        self.assertIn('dma.copy.guard_bytes_untouched', text)
        self.assertNotIn('async.', text)

    def test_without_a_name_it_is_the_device_that_ranks_first(self):
        here = {'HBF_PLUGIN_PATH': os.path.dirname(SIM)}
        done = self.run_hbf(*ONE, env=here)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout.splitlines()[0],
                         r'^device: none was named, so sim0 of plugin sim is tested, which ranks first on this host')
        done = self.run_hbf('--json', '-', *ONE, env=here)  # beside the document
        self.assertEqual(json.loads(done.stdout)['plugin']['path'], os.path.realpath(SIM))
        self.assertIn('device: none was named, so sim0', done.stderr)
        done = self.run_hbf(*ONE, '--device', 'sim', env=here)
        self.assertNotIn('none was named', done.stdout + done.stderr)

    def test_without_a_name_and_without_a_device_there_is_nothing_to_test(self):
        os.mkdir(self.path('empty'))
        done = self.run_hbf('--json', '-', *ONE, env={'HBF_PLUGIN_PATH': self.path('empty')})
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn('no plugin offers a device on this host', json.loads(done.stdout)['error']['message'])

    def test_a_wrong_command_line_is_explained(self):
        for words, code, text in [
                (['--plugin', '/no/such.so'], 2, '/no/such.so'),
                (['--plugin', SIM, '--filter', 'dma.copi'], 2, 'did you mean "dma.copy"'),
                (['--plugin', SIM, '--filter', 'dma,teir'], 2, "'teir'"),
                (['--plugin', SIM, '--seed', '-1'], 2, '--seed'),
                (['--plugin', SIM, '--seed', '0x1zz'], 2, '--seed'),
                (['--plugin', SIM, '--mask', 'crcc'], 2, "'crcc'"),
                (['--plugin', SIM, '--option', 'novalue'], 2, 'KEY=VALUE'),
                (['--plugin', SIM, '--inject', 'flipp'], 2, 'flip'),
                (['--plugin', SIM, '--profile', 'quik'], 2, 'did you mean "quick"'),
                (['--plugin', SIM, '--waivers', '/no/file'], 2, '/no/file'),
                (['--plugin', SIM, '--in-process', '--filter', 'dma', '--seed', '1'], 2, 'one case'),
                (['--device', 'nosuchdevice'], 2, 'nosuchdevice')]:
            with self.subTest(words=words):
                done = self.run_hbf(*words)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, '')

    def test_a_report_that_cannot_be_written_is_known_before_the_run(self):
        for path in ('/no/such/folder/r.json', self.folder.name):
            done = self.run_hbf('--plugin', SIM, '--json', path)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(path, done.stderr)
            self.assertEqual(done.stdout, '')
        done = self.run_hbf('--plugin', SIM, *ONE, '--json', self.path('same'), '--html', self.path('same'))
        self.assertEqual(done.returncode, 3)
        self.assertIn('two reports', done.stderr)

    def test_a_full_disk_is_no_pass(self):
        done = self.run_hbf('--plugin', SIM, *ONE, '--html', '/dev/full', '--json', self.path('whole.json'))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('/dev/full', done.stderr)
        with open(self.path('whole.json'), encoding='utf-8') as file:
            self.assertEqual(json.load(file)['verdict'], 'conformant')  # the others are written all the same
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = self.run_hbf('--plugin', SIM, *ONE, stdout=full)
        self.assertEqual(done.returncode, 3, done.stderr)

    WAIVER = ('[[waiver]]\nid = "W1"\ncase = "dma.copy.guard*"\nowner = "storage team"\nreason = "firmware 3"\n'
              'issue = "https://example.org/1"\nexpires = {}\n')

    def test_a_waived_failure_is_shown_and_does_not_fail_the_run(self):
        waivers = self.write('w.toml', self.WAIVER.format('9999-12-31'))
        bad = ['--plugin', SIM, '--inject', 'guard-write', *ONE, '--waivers']
        case = self.report(*bad, waivers)['cases'][0]
        self.assertEqual((case['status'], case['waiver']), ('waived', 'W1'))
        self.assertTrue(case['evidence'])
        case = self.report(*bad, self.write('old.toml', self.WAIVER.format('2020-01-31')), code=1)['cases'][0]
        self.assertEqual(case['status'], 'fail')
        self.assertIn('expired on 2020-01-31', ' '.join(case['notes']))
        case = self.report('--plugin', SIM, *ONE, '--waivers', waivers, code=1)['cases'][0]
        self.assertEqual(case['status'], 'xpass')

    def test_a_waiver_file_with_a_mistake_is_refused(self):
        good = self.WAIVER.format('9999-12-31')
        for text, said in [(good + 'owners = "x"\n', ':8:1: unknown key'),
                           (good.replace('guard*', 'gaurd*'), 'no case matches'),
                           (good.replace('9999-12-31', '"soon"'), 'no date'), ('', 'no [[waiver]]')]:
            done = self.run_hbf('--plugin', SIM, *ONE, '--waivers', self.write('w.toml', text))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)

    def test_a_plugin_that_fails_in_sequence_only_is_told_so(self):
        env = {'HBF_HOSTILE_REAL': SIM, 'HBF_HOSTILE_DEED': 'fails_the_third_time', 'HBF_HOSTILE_COUNT': self.path('count')}
        alone = ['--plugin', HOSTILE, *ONE]
        report = self.report('--plugin', HOSTILE, '--filter', 'dma.copy', code=1, env=env)
        self.assertEqual(report['verdict'], 'not conformant')
        self.assertTrue(any('alone and with the same seed' in note for case in report['cases'] for note in case['notes']))
        os.remove(self.path('count'))
        self.assertIn(self.run_hbf(*alone, env=env).returncode, (0, 1, 3))

    def test_hidden_capabilities(self):
        report = self.report('--plugin', SIM, '--filter', 'async.cancel', '--mask', 'cancel', code=1)
        self.assertEqual({case['status'] for case in report['cases']}, {'not_supported'})
        self.assertIn('no case was executed', report['verdict_reason'])

    def test_a_case_in_this_process(self):
        done = self.run_hbf('--plugin', SIM, *ONE, '--seed', '1', '--in-process')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('dma.copy.guard_bytes_untouched: pass', done.stdout)

    def interrupt(self, when, seconds, *arguments):
        """Sends `when` after `seconds` of a run; gives exit code and the JSON report, None if there is none."""
        path = self.path('partial.json')
        if os.path.exists(path):
            os.remove(path)
        with subprocess.Popen([HBF, 'conformance', '--plugin', SIM, '--json', path, *arguments], env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(seconds)
            process.send_signal(when)
            process.communicate(timeout=60)
        report = None
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                report = json.load(file)
        return process.returncode, report

    def test_an_interrupted_run_reports_what_it_has(self):
        for seconds in (0.02, 0.3, 1.0, 2.5, 4.0):  # starting, describing, self-test, cases: whatever it hits
            code, report = self.interrupt(signal.SIGINT, seconds, '--skip', 'bandwidth')
            self.assertIn(code, (128 + signal.SIGINT, -signal.SIGINT), seconds)
            if code < 0:
                self.assertLess(seconds, 0.1, 'only before handlers are set')
            if report is None:
                continue
            self.assertTrue(report['interrupted'])
            self.assertEqual(report['verdict'], 'interrupted')
            self.assertIn('not_run', {case['status'] for case in report['cases']})
        leftovers = subprocess.run(['ps', '-eo', 'ppid,comm'], capture_output=True, text=True, check=True).stdout
        self.assertFalse(re.findall(r'^ +1 hbf-case$', leftovers, flags=re.M), 'a case outlived its runner')

    def test_a_termination_is_told_apart(self):
        code, report = self.interrupt(signal.SIGTERM, 1.5, '--skip', 'bandwidth')
        self.assertEqual(code, 128 + signal.SIGTERM)
        if report:
            self.assertEqual(report['verdict'], 'interrupted')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
