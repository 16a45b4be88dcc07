# SPDX-License-Identifier: Apache-2.0
"""hbf emulate as people meet it: the machines, what runs on them, what is refused, what an end looks like.

Run: emulate_cli_test.py HBF [MACHINE=PLUGIN...]; whole suites with HBF_EMULATE_WHOLE=1, else a few cases each.
"""
import hashlib
import json
import os
import signal
import subprocess
import unittest

from emulated import HBF, MACHINES, WHOLE, Emulated, arguments

SHORT = 'dma.copy.guard_bytes_untouched,tier.alloc,async.wait'


class Command(Emulated):
    def refused(self, code, words, *arguments, **options):
        done = self.emulate(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, '')

    def test_the_machines_are_listed(self):
        done = self.emulate('--list')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('unusable', done.stdout)
        for name in ('a100', 'gh200', 'h100', 'h100x4', 'l0', 'mi300x', 'mi300x-noncoherent', 'mlu370', 'pcie-pair'):
            self.assertRegex(done.stdout, rf'(?m)^{name} ')

    def test_the_faults_are_listed(self):
        done = self.emulate('generic', '--fault', 'help')
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ('drop-tail', 'early-completion', 'lost-device'):
            self.assertIn(name, done.stdout)

    def test_the_machines_are_a_document(self):
        done = self.emulate('--list', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        document = json.loads(done.stdout)
        self.assertEqual((document['schema'], document['schema_version']), ('hbf.emulate.machines', 1))
        machines = {machine['name']: machine for machine in document['machines']}
        listed = [line.split()[0] for line in self.emulate('--list').stdout.splitlines()]
        self.assertEqual(list(machines), listed)
        self.assertTrue(all(machine['usable'] for machine in machines.values()))
        four = machines['h100x4']
        self.assertEqual([(one['plugin'], one['pci'], one['emulated'], one['memory_bytes']) for one in four['devices']],
                         [('nvidia', f'0000:{bus}:00.0', True, 80 << 30) for bus in ('1b', '43', '9c', 'c3')])
        self.assertEqual(len([link for link in four['links'] if link['kind'] == 'nvlink' and link['peer'] == 'works']), 6)
        one = json.loads(self.emulate('--list', '--json', 'h100x4').stdout)['machines']
        self.assertEqual(one, [four])
        self.assertRegex(self.emulate('--list', 'h100x4').stdout, r'^h100x4 .*\n$')

    def test_a_profile_that_cannot_be_read_is_in_the_document(self):
        file = os.path.join(self.folder.name, 'bad.toml')
        with open(file, 'w', encoding='ascii') as out:
            out.write('name = 1\n')
        self.refused(2, 'bad.toml', '--list', file)
        done = self.emulate('--list', '--json', file)
        self.assertEqual(done.returncode, 2)
        error = json.loads(done.stdout)
        self.assertEqual((error['schema'], error['exit_code']), ('hbf.error', 2))
        self.assertIn('bad.toml', error['error']['message'])

    def test_the_faults_are_a_document(self):
        document = json.loads(self.emulate('--fault', 'help', '--json').stdout)
        self.assertEqual(document['schema'], 'hbf.emulate.faults')
        faults = {fault['name']: fault for fault in document['faults']}
        self.assertEqual(faults['drop-tail']['acts_in'], 'model')
        self.assertEqual(faults['hip-fine-is-coarse']['acts_in'], 'amd')
        text = self.emulate('--fault', 'help').stdout
        self.assertTrue(all(name in text for name in faults))

    def test_a_commands_document_is_asked_for_behind_the_dashes(self):
        done = self.emulate('generic', '--json', '--', 'hbf', 'probe')
        self.assertEqual(done.returncode, 2)
        self.assertIn('hbf emulate MACHINE -- hbf probe --json', json.loads(done.stdout)['error']['message'])
        # And there is one of it, also where it fails.
        done = self.emulate('generic', '--', 'hbf', 'conformance', '--device', 'nosuchdevice', '--json', '-')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('nosuchdevice', json.loads(done.stdout)['error']['message'])

    def test_what_is_wrong_is_named(self):
        self.refused(2, 'did you mean "generic"', 'generc', '--', 'true')
        self.refused(2, 'no MACHINE', '--seed', '1')
        self.refused(2, 'no COMMAND', 'generic')
        self.refused(2, '--fault: ', 'generic', '--fault', 'drop-tial', '--', 'true')
        self.refused(2, 'already', 'generic', '--', 'true', env={'HBF_EMULATE_ROOT': '/'})
        self.refused(2, 'nowhere.toml', '/nowhere.toml', '--', 'true')
        self.refused(2, 'init-hangs is for the runtime of a vendor', 'generic', '--fault', 'init-hangs', '--', 'true')

    def test_a_fault_that_could_not_act_is_refused(self):
        machine = self.machine_of('nvidia')
        self.refused(2, 'is for the runtime of amd', machine, '--fault', 'hip-fine-is-coarse', '--', 'true')
        self.refused(2, 'device 9 of', machine, '--fault', 'flip:device=9', '--', 'true')

    def test_a_command_that_is_not_there(self):
        done = self.emulate('generic', '--', '/nowhere/at/all')
        self.assertEqual(done.returncode, 3)
        self.assertIn('/nowhere/at/all: cannot be started', done.stderr)

    def test_the_commands_end_is_its_own(self):
        done = self.emulate('generic', '--', 'sh', '-c', 'echo out; echo err >&2; exit 41')
        self.assertEqual((done.returncode, done.stdout), (41, 'out\n'))
        self.assertIn('EMULATED machine generic', done.stderr)
        self.assertEqual(self.emulate('generic', '--', 'sh', '-c', 'kill -9 $$').returncode, 128 + signal.SIGKILL)

    def test_its_root_is_there_for_the_command_alone(self):
        done = self.emulate('generic', '--', 'sh', '-c', 'echo "$HBF_EMULATE_ROOT"; cat "$HBF_EMULATE_ROOT/hbf-emulated"')
        root, name = done.stdout.splitlines()[:2]
        self.assertEqual(name, 'generic')
        self.assertFalse(os.path.exists(root))

    def test_a_signal_is_handed_on_and_leaves_nothing(self):
        script = 'trap "exit 7" TERM; echo "$HBF_EMULATE_ROOT"; while :; do read -r line; done'
        with subprocess.Popen([HBF, 'emulate', 'generic', '--', 'sh', '-c', script], env=self.env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            root = running.stdout.readline().strip()
            self.assertTrue(os.path.isdir(root))
            running.send_signal(signal.SIGTERM)
            running.stdin.close()
            self.assertIn(running.wait(60), (7, 128 + signal.SIGTERM))
        self.assertFalse(os.path.exists(root))


class Reports(Emulated):
    def test_the_machine_is_what_is_seen(self):
        for machine, plugin in MACHINES.items():
            with self.subTest(machine):
                done = self.emulate(machine, '--', 'hbf', 'probe', '--json')
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                report = json.loads(done.stdout)
                serving = [one for one in report['candidates'] if one['reason'] == 'selected']
                self.assertIn(plugin, [one['name'] for one in serving])
                for one in serving:  # the host's own memory, too
                    for device in one['devices']:
                        self.assertTrue(device['emulated'], device)
                        self.assertTrue(all(tier['emulated'] for tier in device['tiers']), device)

    def test_every_line_of_every_report_says_so(self):
        small = ('--size', '1MiB', '--samples', '1', '--time', '1')
        for machine, plugin in MACHINES.items():
            for words in (('probe',), ('probe', '--explain'), ('doctor',),
                          ('bandwidth', '--device', plugin, *small),
                          ('conformance', '--device', plugin, '--filter', 'tier.alloc', '--all')):
                with self.subTest(machine=machine, words=words):
                    self.every_line_says_so(self.emulate(machine, '--', 'hbf', *words))

    def test_documents_say_so(self):
        machine = next(iter(MACHINES))
        done = self.emulate(machine, '--', 'hbf', 'doctor', '--json')
        self.assertEqual(json.loads(done.stdout)['emulated_machine'], machine)
        done = self.emulate(machine, '--', 'hbf', 'bandwidth', '--json', '--device', 'host', '--tier', 'dram0', '--size',
                            '1MiB', '--samples', '1', '--time', '1')
        report = json.loads(done.stdout)
        self.assertEqual(report['emulated_machine'], machine)
        self.assertTrue(all(row['emulated'] for row in report['rows']))


class Suites(Emulated):
    def test_conformant_with_the_shipped_plugin(self):
        for machine, plugin in MACHINES.items():
            with self.subTest(machine):
                chosen = [] if WHOLE else ['--filter', SHORT]
                # No device is named: it is the machine's first, and that is said.
                done = self.emulate(machine, '--', 'hbf', 'conformance', '--profile', 'quick', '--json', '-', *chosen)
                self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)
                self.assertRegex(done.stderr, rf'device: none was named, so \S+ of plugin {plugin} is tested')
                report = json.loads(done.stdout)
                self.assertEqual(report['plugin']['name'], plugin)
                self.assertEqual((report['verdict'], report['emulated']), ('conformant', True))
                # The very file that is chosen without any emulation, not one made for it.
                here = subprocess.run([HBF, 'probe', '--explain', '--json'], env=self.env, text=True, capture_output=True,
                                      check=False, timeout=300)
                shipped = [one for one in json.loads(here.stdout)['candidates'] if one['name'] == plugin]
                with open(shipped[0]['library'], 'rb') as file:
                    self.assertEqual(report['plugin']['sha256'], hashlib.sha256(file.read()).hexdigest())

    def test_a_plugin_that_gave_no_answer_is_said_where_another_is_tested(self):
        machine = self.machine_of('amd')
        broken = (machine, '--fault', 'init-crashes', '--', 'hbf', 'conformance', '--no-preflight', '--filter', 'tier.alloc')
        done = self.emulate(*broken)
        self.assertRegex(done.stdout.splitlines()[0], 'device: none was named, so .* of plugin host is tested.*; '
                                                      r'amd gave no answer \(probe_failed\)')
        # And where there is no other, nothing is known of this machine, which is not that it has no device.
        here = json.loads(self.emulate(machine, '--', 'hbf', 'probe', '--json').stdout)
        folder = os.path.dirname(next(one['library'] for one in here['candidates'] if one['name'] == 'amd'))
        done = self.emulate(*broken, env={'HBF_PLUGIN_PATH': folder})
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn('amd gave no answer (probe_failed)', done.stderr)

    def test_a_fault_is_found(self):
        for machine, plugin in MACHINES.items():
            with self.subTest(machine):
                done = self.emulate(machine, '--fault', 'drop-tail', '--', 'hbf', 'conformance', '--device', plugin,
                                    '--filter', 'dma.copy', '--no-preflight')
                self.assertIn('drop-tail', done.stderr)
                # By a case, or by the plugin, which tries the host's memory when it opens the device.
                self.assertIn(done.returncode, (1, 77), done.stdout[-3000:] + done.stderr)
                if done.returncode == 77:
                    self.assertRegex(done.stderr, f'plugin {plugin} does not serve this host: create_failed: .*c[ao]me back')


if __name__ == '__main__':
    unittest.main(argv=arguments())
