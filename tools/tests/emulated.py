# SPDX-License-Identifier: Apache-2.0
"""What tests over emulated machines have in common. Their arguments: HBF [MACHINE=PLUGIN...] [CLASS[.TEST]...]"""
import ctypes.util
import os
import subprocess
import sys
import tempfile
import unittest

HBF = os.path.abspath(sys.argv[1])
MACHINES = dict(word.split('=') for word in sys.argv[2:] if '=' in word)
if 'level_zero' in MACHINES.values() and not ctypes.util.find_library('ze_loader'):
    print('machines of level_zero are left out: its loader (package libze1) is not here', file=sys.stderr)
    MACHINES = {machine: plugin for machine, plugin in MACHINES.items() if plugin != 'level_zero'}
WHOLE = bool(os.environ.get('HBF_EMULATE_WHOLE'))  # minutes instead of seconds


def arguments():
    """For unittest.main: those of its own."""
    return sys.argv[:1] + [word for word in sys.argv[2:] if '=' not in word]


class Emulated(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-emulate-')
        self.addCleanup(self.folder.cleanup)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'NO_COLOR'}
        self.env.update(HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name)

    def emulate(self, *arguments, **options):
        return subprocess.run([HBF, 'emulate', *arguments], env=self.env | options.pop('env', {}), text=True, timeout=900,
                              check=False, capture_output=True, **options)

    def machine_of(self, plugin):
        for machine, its in MACHINES.items():
            if its == plugin:
                return machine
        self.skipTest(f'the plugin {plugin} is not built')
        return ''

    def every_line_says_so(self, done):
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        self.assertTrue(lines, done.stderr)
        for line in lines:
            self.assertIn('emulated', line.lower())
