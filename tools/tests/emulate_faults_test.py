# SPDX-License-Identifier: Apache-2.0
"""Runtimes and devices that are broken: the reason reaches `hbf probe`, or the case that fails; nothing hangs or passes.

Run: emulate_faults_test.py HBF [MACHINE=PLUGIN...]; one plugin a fault, all with HBF_EMULATE_WHOLE=1
"""
import json
import os
import unittest

from emulated import HBF, MACHINES, WHOLE, Emulated, arguments

ANY = ('nvidia', 'amd', 'cambricon', 'level_zero')
# fault -> plugin -> (reason, words of its detail)
PROBE = {
    'stub-library': {plugin: ('driver_stub', '') for plugin in ANY},
    'old-driver': {plugin: ('driver_too_old', '') for plugin in ANY},
    'garbage-version': {
        'nvidia': ('driver_too_old', 'which is no version'),
        'amd': ('driver_too_old', 'which is no version'),
        'cambricon': ('probe_failed', 'which is no version'),
        'level_zero': ('no_device', 'which does not exist'),
    },
    'missing-symbol': {
        'nvidia': ('driver_too_old', 'lacks functions: cuStreamWaitEvent'),
        'amd': ('driver_too_old', 'lacks functions of HIP 5.2: hipEventQuery'),
        'cambricon': ('driver_too_old', 'lacks functions of CNRT 6.0'),
        # Its driver is behind the loader, which has them all: what is lacking shows at the first call.
        'level_zero': ('create_failed', 'zeCommandListAppendBarrier'),
    },
    'init-fails': {
        'nvidia': ('no_device', 'CUDA_ERROR_UNKNOWN'),
        'amd': ('no_device', 'hipErrorNotInitialized'),
        'cambricon': ('driver_absent', 'cnrtErrorInit'),
        'level_zero': ('driver_absent', 'finds no driver with a device'),
    },
    'init-crashes': {
        'nvidia': ('no_device', 'crashed (ended by SIGSEGV)'),
        'amd': ('probe_failed', 'crashed (ended by SIGSEGV)'),
        'cambricon': ('probe_failed', 'crashed (ended by SIGSEGV)'),
        'level_zero': ('no_device', 'crashed (ended by SIGSEGV)'),
    },
    'init-hangs': {
        'nvidia': ('no_device', 'did not answer in time'),
        'amd': ('probe_failed', 'did not answer within'),
        'cambricon': ('probe_failed', 'did not answer in time'),
        'level_zero': ('no_device', 'did not answer in time'),
    },
    'init-permission': {plugin: ('permission_denied', 'remedy') for plugin in ('cambricon', 'level_zero')},
    'no-device': {plugin: ('no_device', '') for plugin in ('nvidia', 'amd', 'cambricon')} | {
        'level_zero': ('driver_absent', 'finds no driver with a device')},
}
if os.geteuid() != 0:  # nothing stops root from opening a file: then the runtime's own word is all there is
    PROBE['init-permission'] |= {plugin: ('permission_denied', 'remedy') for plugin in ('nvidia', 'amd')}
else:
    PROBE['init-permission'] |= {'nvidia': ('permission_denied', 'CUDA_ERROR_OPERATING_SYSTEM'),
                                 'amd': ('no_device', 'hipErrorNoDevice')}

# What is wrong only when work is done: fault, cases, plugins, words of the reason. The device may as well be refused when it
# is opened: then the reason stands there.
BYTES, KERNEL = 'dma.copy.guard_bytes_untouched', 'kernels.find.listed_are_found'
WORK = [
    ('lost-device:after=30', BYTES, ANY, ('DEVICE_LOST',)),
    ('oom:after=2', 'tier.alloc.no_foreign_bytes', ('nvidia', 'cambricon'), ('OUT_OF_MEMORY', 'NoMem')),
    ('oom:after=2', 'tier.alloc.no_foreign_bytes', ('amd',), ('hipErrorOutOfMemory',)),
    ('oom:after=6', 'tier.alloc.no_foreign_bytes', ('level_zero',), ('OUT_OF_DEVICE_MEMORY',)),
    ('early-completion:value=200', BYTES, ANY, ('',)),
    ('never-completes:after=50', BYTES, ANY, ('did not end within', 'not answer', 'not return')),
    # Whose attributes lie too: what it does tells.
    ('coherence-lies', 'coherence.migration.message_passing', ('amd',), ('',)),
    ('coherence-lies', BYTES, ('level_zero',), ('did not come back from the device',)),
    ('image-refused', KERNEL, ('nvidia', 'amd'), ('NO_BINARY', 'NoBinaryForGpu')),
    ('image-refused', KERNEL, ('level_zero',), ('INVALID_NATIVE_BINARY',)),
    ('compile-fails', KERNEL, ('nvidia', 'amd'), ('does not compile', 'does not build')),
    ('compile-fails', KERNEL, ('level_zero',), ('MODULE_BUILD_FAILURE',)),
]


def nothing_ran(done):
    if done.returncode == 77:
        return True
    cases = json.loads(done.stdout).get('cases', []) if done.stdout.strip() else None
    return cases is not None and all(one['status'] == 'not_supported' for one in cases)


class Broken(Emulated):
    def candidate(self, machine, plugin, *faults):
        words = [word for fault in faults for word in ('--fault', fault)]
        done = self.emulate(machine, *words, '--', 'hbf', 'probe', '--json')
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return next(one for one in json.loads(done.stdout)['candidates'] if one['name'] == plugin)

    def machines(self):
        """One of each plugin."""
        return {plugin: machine for machine, plugin in reversed(MACHINES.items())}

    def test_a_runtime_that_is_broken_is_the_reason_in_probe(self):
        for fault, expected in PROBE.items():
            for plugin, machine in self.machines().items():
                if plugin not in expected:
                    continue
                with self.subTest(fault=fault, plugin=plugin):
                    reason, words = expected[plugin]
                    found = self.candidate(machine, plugin, fault)
                    self.assertEqual(found['reason'], reason, found)
                    self.assertIn(words, found['detail'])

    def test_a_library_that_is_missing(self):
        # Level Zero's loader is this machine's own: there it is one that cannot be read.
        with open(os.path.join(self.folder.name, 'libze_loader.so.1'), 'w', encoding='ascii') as file:
            file.write('no library')
        for plugin, machine in self.machines().items():
            with self.subTest(plugin):
                path = 'LD_LIBRARY_PATH=' + (self.folder.name if plugin == 'level_zero' else '')
                done = self.emulate(machine, '--', 'env', path, HBF, 'probe', '--json')
                found = next(one for one in json.loads(done.stdout)['candidates'] if one['name'] == plugin)
                self.assertEqual(found['reason'], 'driver_absent', found)
                self.assertIn('remedy', found['detail'])

    def test_a_device_that_is_broken_fails_a_case_for_its_reason(self):
        for fault, case, plugins, words in WORK:
            here = [plugin for plugin in plugins if plugin in self.machines()]
            for plugin in here if WHOLE else here[:1]:
                with self.subTest(fault=fault, plugin=plugin):
                    command = ('--', 'hbf', 'conformance', '--device', plugin, '--no-preflight', '--filter', case,
                               '--json', '-')
                    done = self.emulate(self.machines()[plugin], '--fault', fault, *command)
                    if nothing_ran(done) and nothing_ran(self.emulate(self.machines()[plugin], *command)):
                        self.skipTest(f'{plugin}: this build has not what {case} needs: ' + done.stderr.strip()[-200:])
                    self.assertIn(done.returncode, (1, 3, 77), done.stdout[-2000:])
                    report = json.loads(done.stdout)
                    said = done.stderr if done.returncode == 77 else ' '.join(
                        one['reason'] for one in report.get('cases', [])) + report.get('verdict_reason', '') + done.stderr
                    self.assertTrue([word for word in words if word in said], said)

    def test_peers_that_lie_serve_nobody(self):
        reasons = {'h100x4': ('nvidia', 'offers peer access, but it does not hold'),
                   'mi300x': ('amd', 'is not used, though the runtime says that it can be reached')}
        for machine in reasons.keys() & MACHINES.keys():
            plugin, words = reasons[machine]
            for faults in ((), ('--fault', 'peer-lies')):
                with self.subTest(machine=machine, faults=faults):
                    report = json.loads(self.emulate(machine, *faults, '--', 'hbf', 'probe', '--json').stdout)
                    served = next(one for one in report['candidates'] if one['name'] == plugin)
                    peers = [tier['name'] for tier in served['devices'][0]['tiers'] if tier['name'].startswith('peer')]
                    said = [note for note in report['notes'] if words in note]
                    self.assertEqual((bool(peers), bool(said)), (not faults, bool(faults)), (peers, report['notes']))

    def test_a_machine_that_lies_about_coherence_is_refused(self):
        self.machine_of('amd')
        found = self.candidate('mi300x-noncoherent', 'amd')
        self.assertEqual(found['reason'], 'create_failed')
        self.assertIn('hipMemRangeGetAttribute says coarse', found['detail'])


if __name__ == '__main__':
    unittest.main(argv=arguments())
