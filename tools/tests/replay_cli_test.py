# SPDX-License-Identifier: Apache-2.0
"""hbf replay as people and scripts meet it.

Run: replay_cli_test.py HBF TRACES
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HBF, TRACES = (os.path.abspath(word) for word in sys.argv[1:3])
SYNTHETIC = os.path.join(TRACES, 'mooncake_synthetic.csv.zst')


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-replay-')
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
        return path

    def hbf(self, *words):
        return subprocess.run([HBF, 'replay', *words], capture_output=True, text=True, timeout=120, check=False)

    def refused(self, code, said, *words):
        done = self.hbf(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stdout, '')

    def test_one_level(self):
        done = self.hbf(SYNTHETIC, '--capacity', '5%,2000', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document['schema'], document['alpha']), ('hbf.replay', 'auto'))
        trace, = document['traces']
        self.assertEqual((trace['requests'], trace['blocks'], trace['format']), (3993, 43924, 'csv'))
        seen = [(row['capacity']['text'], row['policy']) for row in trace['rows']]
        self.assertEqual(seen, [(size, name) for size in ('5%', '2000') for name in ('ahas', 'lru', 's3fifo', 'arc')])
        for row in trace['rows']:
            self.assertGreater(row['regret_share'], 0)
            self.assertLess(row['result']['usable_share'], .5)
            self.assertNotIn('down_bytes', row['result'])

    def test_the_same_every_time(self):
        runs = {self.hbf(SYNTHETIC, '--capacity', '1%', '--policy', 'ahas').stdout for _ in range(2)}
        self.assertEqual(len(runs), 1)

    def test_two_levels(self):
        done = self.hbf(SYNTHETIC, '--capacity', '1%', '--lower', '10%', '--policy', 'lru', '--json', '--bytes-per-token',
                        '1')
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = json.loads(done.stdout)['traces'][0]['rows']
        result = row['result']
        self.assertAlmostEqual(result['down_bytes'] / 512 / 3993, result['down_blocks_per_request'], delta=1)
        self.assertGreater(result['usable_tokens'], result['upper_tokens'])

    def test_text_plot_and_file(self):
        out = os.path.join(self.folder.name, 'report')
        done = self.hbf(SYNTHETIC, '--capacity', '1%', '--plot', '-o', out)
        self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)
        with open(out, encoding='utf-8') as report:
            text = report.read()
        for part in ('mooncake_synthetic.csv.zst: 3993 requests', 'USABLE %', 'REGRET', 'ahas (half-life', '#', '...'):
            self.assertIn(part, text)

    def test_other_formats_serve_the_same(self):
        requests = [list(range(10)), list(range(5)) + [20, 21], list(range(10))]
        csv = 'timestamp_ms,request_id,block_id,tokens\n' + ''.join(
            f'{i},{i},{block},512\n' for i, path in enumerate(requests) for block in path)
        lines = ''.join(json.dumps({'timestamp': i, 'input_length': 512 * len(path), 'output_length': 1, 'hash_ids': path})
                        + '\n' for i, path in enumerate(requests))
        seen = []
        for name, text in (('a.csv', csv), ('a.jsonl', lines)):
            done = self.hbf(self.write(name, text), '--capacity', '8', '--json')
            self.assertEqual(done.returncode, 0, done.stderr)
            seen.append([row['result'] for row in json.loads(done.stdout)['traces'][0]['rows']])
        self.assertEqual(seen[0], seen[1])

    def test_what_is_wrong_is_said(self):
        self.refused(2, "no policy is named 'mru': there are ahas, lru, s3fifo, arc", SYNTHETIC, '--policy', 'mru')
        self.refused(2, "--alpha '1': 'auto', or a decay between 0 and 1", SYNTHETIC, '--alpha', '1')
        self.refused(2, "capacity '0%'", SYNTHETIC, '--capacity', '0%')
        self.refused(2, "lower capacity 'x'", SYNTHETIC, '--lower', 'x')
        self.refused(2, 'TRACE')
        self.refused(3, 'none: No such file', os.path.join(self.folder.name, 'none'))
        self.refused(3, 'bad:2: 2 fields, expected 4', self.write('bad', 'timestamp_ms,request_id,block_id,tokens\n1,2\n'))
        self.refused(3, 'the first line is', SYNTHETIC, self.write('worse', 'x\n'))

    def test_a_fixed_decay(self):
        done = self.hbf(SYNTHETIC, '--capacity', '1%', '--policy', 'ahas', '--alpha', '0.999', '--json')
        self.assertAlmostEqual(json.loads(done.stdout)['traces'][0]['rows'][0]['half_life_requests'], 692.8, places=1)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
