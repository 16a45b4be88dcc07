# SPDX-License-Identifier: Apache-2.0
"""hbf corruption as people and scripts meet it: what it says of planted faults, exit codes, JSON, signals.

Run: corruption_cli_test.py HBF HOST_PLUGIN
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HBF = os.path.abspath(sys.argv[1])
HOST = os.path.abspath(sys.argv[2])
# The simulated device: three tiers, no machine's memory.
SMALL = ['--device', 'sim', '--bytes', '256KiB', '--iterations', '1', '--seed', '7']


class Corruption(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-corruption-')
        self.addCleanup(self.folder.cleanup)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'NO_COLOR'}
        self.env.update(HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name,
                        HBF_PLUGIN_PATH=os.path.dirname(HOST))

    def run_hbf(self, *arguments):
        return subprocess.run([HBF, 'corruption', *arguments], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=600, check=False)

    def injected(self, fault, *arguments):
        done = self.run_hbf(*SMALL, '--json', '--inject', fault, *(arguments or ('--pattern', 'p0')))
        self.assertEqual(done.returncode, 1, done.stdout[-2000:] + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report['outcome'], 'fail')
        self.assertGreater(len(report['errors']), 0)
        return report

    def test_a_whole_device_passes_with_self_test_bound_and_coverage(self):
        done = self.run_hbf(*SMALL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r'self-test: (\d+)/\1 injected faults found')
        self.assertRegex(done.stdout, r'0 errors in \S+ bits: rate < \S+ per bit at 95 %, < \S+ at 99\.9 %')
        self.assertIn('coverage', done.stdout)
        self.assertIn('EMULATED', done.stdout)
        self.assertIn('pass: no byte was wrong', done.stdout)
        self.assertNotIn('\x1b', done.stdout + done.stderr)

    def test_the_host_plugin_passes(self):
        done = self.run_hbf('--plugin', HOST, '--bytes', '256KiB', '--iterations', '1', '--no-self-test',
                            '--option', 'storage_path=' + self.folder.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_stuck_line_is_named(self):
        report = self.injected('stuck,bit=13')
        self.assertRegex(report['verdict'], r'single lane 13 of 64, 1->0 only, 100 % => stuck data line')
        lanes = {lane['lane']: lane for lane in report['aggregate']['lanes']['64']}
        self.assertEqual(list(lanes), [13])
        self.assertEqual(lanes[13]['up'], 0)
        self.assertEqual(report['errors'][0]['reread'], 'same')
        self.assertTrue(report['errors'][0]['source_right'])
        self.assertIs(report['errors'][0]['right_when_repeated'], False)

    def test_the_other_polarity_needs_the_complement(self):
        report = self.injected('stuck,bit=40,value=1', '--pattern', 'solid')
        self.assertIn('single lane 40 of 64, 0->1 only', report['verdict'])

    def test_old_data_is_told_by_its_generation(self):
        report = self.injected('stale')
        self.assertIn('an earlier generation', report['verdict'])
        self.assertEqual(report['errors'][0]['fault_class'], 'stale')
        self.assertRegex(report['errors'][0]['origin'], r'generation \d+, \d+ before')

    def test_data_of_another_place_is_told_by_its_distance(self):
        report = self.injected('misdirect,bytes=65536,after=20', '--pattern', 'block_move')
        self.assertIn('misplaced', report['fault_classes'])

    def test_a_dropped_tail_was_never_written(self):
        report = self.injected('drop-tail,bytes=64')
        self.assertTrue(set(report['fault_classes']) & {'not written', 'stale'}, report['fault_classes'])

    def test_a_transient_of_the_transfer_goes_away(self):
        report = self.injected('flip,after=20,count=1')
        self.assertEqual(report['incidents'], 1)
        self.assertEqual(report['errors'][0]['fault_class'], 'bit flip')
        self.assertEqual(report['aggregate']['wrong_bits'], 1)

    def test_the_kernel_verifies_where_it_is_asked_to_and_each_line_says_so(self):
        done = self.run_hbf(*SMALL, '--verify', 'kernel', '--no-self-test')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r'vram0 -> vram0 .*verified by kernel')
        self.assertRegex(done.stdout, r'vram0 -> cold0 .*verified by host')
        self.assertIn('cold0: verified by host: kernels do not reach it', done.stdout)
        for verify, who in (('kernel', 'kernel'), ('host', 'host'), ('auto', 'host')): # the CPU reaches the memory of sim
            report = json.loads(self.run_hbf(*SMALL, '--json', '--no-self-test', '--pattern', 'p0', '--pairs', 'vram0->hbf0',
                                             '--verify', verify).stdout)
            self.assertEqual([pair['verified_by'] for pair in report['pairs']], [who], verify)
            self.assertEqual(report['verify'], verify)

    def test_what_the_kernel_finds_the_host_locates(self):
        report = self.injected('stuck,bit=13', '--pattern', 'p0', '--verify', 'kernel', '--pairs', 'hbf0->vram0')
        self.assertRegex(report['verdict'], r'single lane 13 of 64, 1->0 only, 100 % => stuck data line')
        self.assertEqual(report['pairs'][0]['verified_by'], 'kernel')
        self.assertEqual(report['kernel']['wrong_words'], report['aggregate']['wrong_words'])
        self.assertEqual(report['kernel']['bits_1_to_0'][13], report['aggregate']['bits_1_to_0'])
        self.assertEqual(sum(report['kernel']['bits_0_to_1']), 0)
        self.assertRegex(report['errors'][0]['agent'], '^kernel, then ')
        self.assertEqual(len(report['errors'][0]['rereads']), 3)

    def test_old_data_is_found_by_the_kernel_too(self):
        report = self.injected('stale', '--pattern', 'p0', '--verify', 'kernel', '--pairs', 'hbf0->vram0')
        self.assertEqual(report['errors'][0]['fault_class'], 'stale')

    def test_a_device_without_kernels_cannot_verify_by_them(self):
        done = self.run_hbf('--plugin', HOST, '--bytes', '256KiB', '--iterations', '1', '--no-self-test', '--verify',
                            'kernel', '--option', 'storage_path=' + self.folder.name)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('--verify kernel: verified by host: the device launches no kernels', done.stdout)

    def test_checksums_of_the_wrong_bytes_fail_alone(self):
        done = self.run_hbf(*SMALL, '--json', '--inject', 'crc-wrong,what=seed', '--pattern', 'p0')
        self.assertEqual(done.returncode, 1, done.stdout[-2000:] + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report['aggregate']['wrong_words'], 0)
        self.assertGreater(report['crc_wrong'], 0)

    def test_trouble_of_the_device_is_no_verdict_on_data(self):
        done = self.run_hbf(*SMALL, '--inject', 'device-error,after=50')
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('undecided', done.stdout)

    def test_confidence_and_rate_say_bytes_and_time_first(self):
        done = self.run_hbf('--device', 'sim', '--bytes', '1MiB', '--confidence', '99', '--rate', '1e-8', '--no-self-test')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout,
                         r'4\.61e\+08 bits \(0\.0576 GB\) to exclude a rate of 1e-08 per bit with 99 % confidence')
        self.assertRegex(done.stdout, r'rate < \S+ at 99 %')

    def test_too_little_time_for_the_bound_is_undecided(self):
        done = self.run_hbf('--device', 'sim', '--bytes', '64KiB', '--confidence', '99.9', '--rate', '1e-16', '--time', '1',
                            '--no-self-test')
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('when the time was up', done.stdout)

    def test_pairs_and_patterns_are_chosen(self):
        probe = json.loads(self.run_hbf(*SMALL, '--json', '--no-self-test', '--pattern', 'p0').stdout)
        names = sorted({pair['from'] for pair in probe['pairs']})
        self.assertEqual(len(probe['pairs']), len(names) ** 2)
        one = json.loads(self.run_hbf(*SMALL, '--json', '--no-self-test', '--pattern', 'random', '--pairs',
                                      f'{names[0]}->{names[1]}').stdout)
        self.assertEqual([(p['from'], p['to']) for p in one['pairs']], [(names[0], names[1])])
        self.assertEqual(one['patterns'], ['p7'])

    def test_wrong_command_lines_are_usage_errors(self):
        for arguments, said in ((['--pattern', 'p12'], 'p12'), (['--pattern', 'sollid'], 'solid'),
                                (['--rate', '1e-12'], '--confidence'), (['--confidence', '99.9'], '--rate'),
                                (['--pairs', 'nope->nope'], "no tier 'nope'"), (['--inject', 'flp'], 'flip'),
                                (['--device', 'simm'], 'sim'), (['--plugin', self.folder.name + '/none.so'], 'none.so'),
                                (['--bytes', '1XB'], 'unknown unit'), (['--time', '0'], '--time'),
                                (['--option', 'nonsense'], 'KEY=VALUE'), (['--verify', 'gpu'], 'kernel'),
                                (['extra'], 'extra')):
            base = [] if '--device' in arguments or '--plugin' in arguments else ['--device', 'sim']
            done = self.run_hbf(*base, '--no-self-test', *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
            self.assertIn(said, done.stderr)

    def test_an_output_that_cannot_be_written_is_said_before_the_run(self):
        done = self.run_hbf(*SMALL, '-o', self.folder.name + '/no/such/report')
        self.assertEqual(done.returncode, 3)
        self.assertIn('no/such', done.stderr)

    def test_an_interrupted_run_reports_what_was_done(self):
        process = subprocess.Popen([HBF, 'corruption', '--device', 'sim', '--bytes', '1MiB', '--time', '120',
                                    '--no-self-test'],
                                   env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        while line and 'how far' not in line:
            line = process.stdout.readline()
        time.sleep(1)  # some of it is to be done
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, rest + errors)
        self.assertIn('interrupted', rest)
        self.assertIn('errors in', rest)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
