# SPDX-License-Identifier: Apache-2.0
"""hbf bandwidth on emulated machines with something wrong: the likely cause is named; rows of kernels; floors.

Run: emulate_bandwidth_test.py HBF [MACHINE=PLUGIN...]
"""
import json
import os
import unittest

from emulated import MACHINES, Emulated, arguments

SMALL = ('--size', '1MiB', '--op-size', '256KiB', '--samples', '2', '--warm-up', '0.01', '--time', '120')
# A floor that nothing reaches: then every row tells what may hold it back.
NEVER = {'profile': 'out of reach', 'source': 'this test', 'date': '2026-11-30',
         'floors': [{'src': a, 'dst': b, 'gb_per_s': 1e9} for a in ('hbm', 'hbf') for b in ('hbm', 'hbf')]}


class Bandwidth(Emulated):
    def measure(self, machine, *arguments, faults=(), floors=None, code=0):
        words = [word for fault in faults for word in ('--fault', fault)]
        if floors:
            file = os.path.join(self.folder.name, 'floors.json')
            with open(file, 'w', encoding='ascii') as out:
                json.dump(floors, out)
            arguments = (*arguments, '--profile', file)
        # Beside other tests the plain copies of a run may wait for a CPU, and what took no time here then seems too fast:
        # measured again. What is wrong with a machine is wrong each time.
        for _ in range(5):
            done = self.emulate(machine, *words, '--', 'hbf', 'bandwidth', '--json', *SMALL, *arguments)
            rows = json.loads(done.stdout)['rows'] if done.stdout else []
            failed = [row for row in rows if row['status'] == 'fail']
            starved = failed and all('impossible figure' in row['reason'] for row in failed)
            if done.returncode == code or not starved:
                break
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr)
        return rows

    def device_of(self, machine, plugin, index):
        done = self.emulate(machine, '--', 'hbf', 'probe', '--json')
        for one in json.loads(done.stdout)['candidates']:
            if one['name'] == plugin:
                return one['devices'][index]['id']
        self.fail(f'no {plugin} on {machine}')
        return ''

    def causes(self, rows):
        """Of the rows that cross the link between host and device, and those of all others."""
        crossing, others = set(), set()
        for row in rows:
            kinds = {row['src']['media'], row['dst']['media']}
            (crossing if len(kinds) == 2 else others).update(row['likely_causes'])
        return crossing, others

    def named(self, text, machine, *arguments, **options):
        rows = self.measure(machine, *arguments, floors=NEVER, code=1, **options)
        crossing, _ = self.causes(rows)
        self.assertTrue([cause for cause in crossing if text in cause], f'{text} is not among {crossing}')
        clean, others = self.causes(self.measure(machine, *arguments, floors=NEVER, code=1))
        self.assertFalse([cause for cause in clean | others if text in cause], f'{text} without the fault')

    def test_a_narrow_slot(self):
        for plugin in ('nvidia', 'amd', 'cambricon'):
            with self.subTest(plugin):
                machine = self.machine_of(plugin)
                self.named('slot width: PCI', machine, '--matrix', '--device', self.device_of(machine, plugin, 0),
                           faults=['link-narrow'])

    def test_a_redirect(self):
        machine = self.machine_of('nvidia')
        self.named('IOMMU redirect: PCI bridge 0000:00:01.0', machine, '--matrix', '--device',
                   self.device_of(machine, 'nvidia', 0), faults=['iommu-redirect'])

    def test_a_link_that_is_down(self):
        if 'h100x4' not in MACHINES:
            self.skipTest('needs several cards')
        device = self.device_of('h100x4', 'nvidia', 0)
        # Also where nothing is too slow: a link that is down is no question of speed.
        rows = self.measure('h100x4', '--device', device, '--tier', 'hbm0', faults=['link-down'])
        causes = [cause for row in rows for cause in row['likely_causes']]
        self.assertTrue([cause for cause in causes if cause.startswith(f'link down: 18 of 18 links of {device}')], causes)
        rows = self.measure('h100x4', '--device', device, '--tier', 'hbm0')
        self.assertFalse([cause for row in rows for cause in row['likely_causes']])

    def test_memory_far_from_the_device(self):
        if 'h100x4' not in MACHINES:
            self.skipTest('needs cards at two nodes')
        near, far = (self.causes(self.measure('h100x4', '--matrix', '--device', self.device_of('h100x4', 'nvidia', index),
                                              floors=NEVER, code=1))[0] for index in (0, 3))
        self.assertTrue([cause for cause in far if 'hangs at node 1, the' in cause and 'lies on node 0' in cause], far)
        self.assertFalse([cause for cause in near if cause.startswith('far NUMA node')], near)

    def test_kernels_have_rows(self):
        for machine, plugin in MACHINES.items():
            with self.subTest(machine):
                rows = self.measure(machine, '--matrix', '--device', self.device_of(machine, plugin, 0))
                self.assertTrue(all(row['emulated'] for row in rows))
                works = {row['executor'].split(' kernel ')[1] for row in rows if ' kernel ' in row['executor']}
                known = json.loads(self.emulate(machine, '--', 'hbf', 'probe', '--json').stdout)
                kernels = next(one for one in known['candidates'] if one['name'] == plugin)['devices'][0].get('kernels', [])
                for name in ('copy/1', 'triad/1', 'pattern_verify/1'):
                    self.assertEqual(name in works, name in kernels, works)

    def test_floors_of_a_platform(self):
        machine = self.machine_of('nvidia')
        device = self.device_of(machine, 'nvidia', 0)
        rows = self.measure('h100x4', '--matrix', '--device', device, '--profile', 'nvidia-h100-sxm', code=1)
        judged = [row for row in rows if row['floor']]
        self.assertEqual({(row['src']['name'], row['dst']['name']) for row in judged},
                         {('hbm0', 'hbm0'), ('pinned0', 'hbm0'), ('hbm0', 'pinned0')})
        self.assertTrue(all('NVIDIA' in row['floor']['source'] for row in judged))
        # Those of another card judge nothing, and that is no pass.
        rows = self.measure('h100x4', '--device', device, '--tier', 'hbm0', '--profile', 'nvidia-a100-sxm', code=3)
        self.assertTrue(all(row['floor'] is None for row in rows))
        done = self.emulate('h100x4', '--', 'hbf', 'bandwidth', '--profile', 'nvidia-h100-sx')
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "nvidia-h100-sxm"', done.stderr)


if __name__ == '__main__':
    unittest.main(argv=arguments())
