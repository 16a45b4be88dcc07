# SPDX-License-Identifier: Apache-2.0
"""hbf config as people and scripts meet it.

Run: config_cli_test.py HBF
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HBF = os.path.abspath(sys.argv[1])


class Config(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-config-')
        self.addCleanup(self.folder.cleanup)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_')}
        self.env.update(HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name)
        self.file = os.path.join(self.folder.name, 'hbf', 'hbf.toml')
        os.mkdir(os.path.dirname(self.file))

    def write(self, text):
        with open(self.file, 'w', encoding='utf-8') as out:
            out.write(text)
        os.chmod(self.file, 0o600)

    def run_hbf(self, *arguments, **variables):
        return subprocess.run([HBF, 'config', *arguments], env={**self.env, **variables}, capture_output=True, text=True,
                              timeout=60, check=False)

    def test_show_says_where_each_value_comes_from(self):
        self.write('[plugins]\nallow = ["b", "a"]\n')
        done = self.run_hbf('show', '--origin', '--json', HBF_PROBE_TIMEOUT='3', HBF_PLUGNS='x')
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        values = {value['key']: value for value in document['values']}
        self.assertEqual(values['plugins.allow']['value'], ['b', 'a'])
        self.assertEqual(values['plugins.allow']['where'], self.file + ':2:1')
        self.assertEqual(values['plugins.probe_timeout_s']['where'], 'HBF_PROBE_TIMEOUT')
        self.assertEqual(values['plugins.pin']['origin'], 'built-in')
        self.assertIn('HBF_PLUGINS', document['notes'][0])
        text = self.run_hbf('show', '--origin')
        self.assertRegex(text.stdout, r'plugins\.allow +b,a +user file +' + self.file + ':2:1')

    def test_a_wrong_file_stops_show_and_names_the_place(self):
        self.write('[plugins]\nalow = ["a"]\n')
        done = self.run_hbf('show')
        self.assertEqual((done.returncode, done.stdout), (3, ''))
        self.assertIn(self.file + ':2:1: unknown key "plugins.alow" (did you mean "plugins.allow"?)', done.stderr)

    def test_check_reads_one_file(self):
        self.write('[plugins]\npin = ["host"]\n')
        done = self.run_hbf('check', self.file)
        self.assertEqual((done.returncode, done.stdout), (0, self.file + ': no mistake found, 1 key set\n'))
        self.write('[plugins]\npin = 3\n')
        done = self.run_hbf('check', self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(':2:7: plugins.pin: expected a list of strings, found an integer', done.stderr)
        self.assertEqual(self.run_hbf('check', self.file + '.missing').returncode, 3)
        self.assertEqual(self.run_hbf('check').returncode, 2)

    def test_check_knows_h3_toml_by_its_name(self):
        self.file = os.path.join(self.folder.name, 'h3.toml')
        self.write('[kv]\nchunk_size = 64\n[scheduler]\nahas_alpha = "auto"\n')
        done = self.run_hbf('check', self.file)
        self.assertEqual((done.returncode, done.stdout), (0, self.file + ': no mistake found, 2 keys set\n'), done.stderr)
        self.write('[kv]\nchunksize = 64\n')
        done = self.run_hbf('check', self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.file + ':2:1: unknown key "kv.chunksize" (did you mean "kv.chunk_size"?)', done.stderr)
        self.write('[scheduler]\nhbm_threshold = 1.0\n')
        done = self.run_hbf('check', self.file, '--json')
        self.assertEqual(done.returncode, 1)
        document = json.loads(done.stdout)
        self.assertFalse(document['valid'])
        self.assertIn('scheduler.hbm_threshold = 1: no block is ever hotter than 1', document['mistakes'][0])

    def test_path_and_list(self):
        self.assertRegex(self.run_hbf('path').stdout, 'user file +' + self.file + ' +absent')
        self.write('')
        self.assertRegex(self.run_hbf('path').stdout, 'user file +' + self.file + ' +present')
        keys = json.loads(self.run_hbf('list', '--json').stdout)['keys']
        shown = json.loads(self.run_hbf('show', '--json').stdout)['values']
        self.assertEqual(sorted(key['key'] for key in keys), [value['key'] for value in shown])
        for key in keys:
            self.assertTrue(key['doc'] and key['environment'].startswith('HBF_'), key)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
