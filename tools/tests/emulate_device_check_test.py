# SPDX-License-Identifier: Apache-2.0
"""tools/device_check.sh on an emulated machine: one document with every step, in the time that it was given.

Run: emulate_device_check_test.py HBF [MACHINE=PLUGIN...]; all of it with HBF_EMULATE_WHOLE=1, else cut off early.
"""
import json
import os
import unittest

from emulated import HBF, MACHINES, WHOLE, Emulated, arguments

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'device_check.sh')
STEPS = ['probe', 'doctor', 'conformance', 'bandwidth_matrix', 'bandwidth_both_ways', 'latency_64KiB', 'granules_1024']


class DeviceCheck(Emulated):
    def check(self, machine, *arguments):
        out = os.path.join(self.folder.name, 'report.json')
        done = self.emulate(machine, '--', SCRIPT, '--hbf', HBF, '-o', out, *arguments)
        with open(out, encoding='utf-8') as file:
            report = json.load(file)
        self.assertEqual(done.returncode, report['exit'], done.stderr)
        for line in done.stderr.splitlines():
            self.assertIn('emulated', line.lower())
        return report

    def test_the_document_has_every_step(self):
        for machine in MACHINES if WHOLE else list(MACHINES)[-1:]:
            with self.subTest(machine):
                seconds = 225 if WHOLE else 20
                report = self.check(machine, '--seconds', str(seconds))
                self.assertEqual((report['kind'], report['emulated']), ('device_check', True))
                self.assertEqual(list(report['steps']), STEPS)
                self.assertLess(report['seconds'], seconds + 15)
                codes = [step['exit'] for step in report['steps'].values()]
                self.assertEqual(report['exit'], 1 if 1 in codes else 3 if 3 in codes else 0)
                for name, step in report['steps'].items():
                    if step['exit'] == 3 and not WHOLE:  # cut off, and it says so
                        self.assertRegex(step['trouble'], 'the time was up|stopped after|nothing was decided', name)
                    else:
                        self.assertEqual((step['exit'], step['trouble']), (0, ''), (name, step))
                        self.assertIsNotNone(step['result'], name)
                if WHOLE:
                    self.assertTrue(report['steps']['conformance']['result']['emulated'])
                    batches = [row['batch_ops'] for row in report['steps']['granules_1024']['result']['rows']]
                    self.assertIn(1024, batches)

    def test_a_machine_without_accelerators_has_nothing_to_check(self):
        report = self.check('generic', '--seconds', '60')
        self.assertEqual(report['exit'], 77)
        self.assertEqual(list(report['steps']), ['probe'])


if __name__ == '__main__':
    unittest.main(argv=arguments())
