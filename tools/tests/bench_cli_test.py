#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbf bench decode: small contexts, what it says and how it ends."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HBF = sys.argv[1]


def decode(*words):
    return subprocess.run([HBF, 'bench', 'decode', *words], capture_output=True, text=True, timeout=120)


class Decode(unittest.TestCase):
    def test_both_give_the_same_bits(self):
        out = decode('--context', '4K', '--hbm', '10%', '--layers', '2', '--steps', '3', '--json')
        self.assertEqual(out.returncode, 0, out.stderr)
        told = json.loads(out.stdout)
        self.assertEqual(told['schema'], 'hbf.bench.decode')
        self.assertIs(told['same_bits'], True)
        self.assertLess(told['error_against_double'], 2e-6)
        self.assertEqual(told['kv_bytes'], 4096 * 8 * 128 * 4 * 2)
        full, tiered = told['runs']
        self.assertEqual(full['hbf_bytes'], 0)
        self.assertGreaterEqual(full['hbm_bytes'], told['kv_bytes'])
        self.assertLess(tiered['hbm_bytes'], told['kv_bytes'] / 4)
        self.assertGreaterEqual(tiered['hbm_bytes'] + tiered['hbf_bytes'], told['kv_bytes'])
        self.assertEqual(len(full['samples_seconds']), 3)
        selective = told['selective']
        self.assertEqual(len(selective['run']['samples_seconds']), 3)
        self.assertGreater(selective['index_bytes'], 0)
        self.assertLess(selective['read_bytes'], selective['all_bytes'])
        self.assertGreater(selective['distance_from_exact'], 0)
        self.assertLessEqual(selective['missed_at_most'], 1)

    def test_for_people(self):
        out = decode('--context', '1024', '--steps', '1')
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn('Exact decode after 1024 tokens', out.stdout)
        self.assertIn('the same bits in both', out.stdout)
        self.assertIn('HBM 20 %', out.stdout)
        self.assertIn('Selective: 1/', out.stdout)

    def test_what_is_wrong_is_named(self):
        for words, part in ((('--context', 'long'), "'long'"), (('--hbm', '120%'), "'120%'"), (('--hbm', '20'), "'20'"),
                            (('--block', '17', '--context', '1K'), 'chunk_align'), (('--device', 'gpu7'), "'gpu7'"),
                            (('--context', '16M', '--layers', '128'), 'budget')):
            out = decode(*words)
            self.assertEqual(out.returncode, 2, (words, out.stderr))
            self.assertIn(part, out.stderr)
            self.assertEqual(out.stdout, '')

    def test_an_interruption_ends_it(self):
        process = subprocess.Popen([HBF, 'bench', 'decode', '--context', '4K', '--steps', '10000', '--layers', '4'],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, errors)
        self.assertEqual(out, '')


class Profile(unittest.TestCase):
    def test_time_and_bytes_by_name_and_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, 'trace.json')
            out = subprocess.run([HBF, 'profile', '--context', '2K', '--steps', '4', '--layers', '2', '-o', trace, '--json'],
                                 capture_output=True, text=True, timeout=120)
            self.assertEqual(out.returncode, 0, out.stderr)
            spans = {span['name']: span for span in json.loads(out.stdout)['spans']}
            with open(trace, encoding='utf-8') as file:
                events = json.load(file)['traceEvents']
        self.assertEqual(spans['attend']['count'], 8)
        both = spans['attend in hbm']['bytes'] + spans['attend in hbf']['bytes']
        self.assertGreaterEqual(both, 2048 * 8 * 128 * 4 * 8)  # all of it in each step and layer
        self.assertGreater(spans['attend in hbf']['bytes'], spans['attend in hbm']['bytes'])
        self.assertEqual(len([event for event in events if event['name'] == 'attend']), 8)
        self.assertTrue(all(event['ph'] == 'X' and event['dur'] >= 0 for event in events))

    def test_a_trace_that_cannot_be_written_is_told_first(self):
        out = subprocess.run([HBF, 'profile', '-o', '/no/such/folder/t.json'], capture_output=True, text=True, timeout=20)
        self.assertEqual(out.returncode, 2)
        self.assertIn('/no/such/folder', out.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
