# SPDX-License-Identifier: Apache-2.0
"""The hbf command as people and scripts meet it: exit codes, JSON, colour, signals, files that cannot be written.

Run: bandwidth_cli_test.py HBF PLUGIN_FOLDER FOLDER_OF_THE_SIMULATED_DEVICE
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HBF = os.path.abspath(sys.argv[1])
PLUGINS = os.path.abspath(sys.argv[2])
SIM = os.path.abspath(sys.argv[3])
QUICK = ['--tier', 'dram0', '--size', '4MiB', '--samples', '6', '--warm-up', '0.01', '--time', '30']
CLOSING = re.compile(r'^Measured bandwidth: \d+(\.\d+)? GB/s ± \d+\.\d%( |$)')


class Bandwidth(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='hbf-cli-')
        self.addCleanup(self.folder.cleanup)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'NO_COLOR'}
        self.env.update(HOME=self.folder.name, XDG_CACHE_HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name,
                        HBF_PLUGIN_PATH=PLUGINS)

    def run_hbf(self, *arguments, **options):
        return subprocess.run([HBF, *arguments], env=self.env, stdout=options.pop('stdout', subprocess.PIPE),
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False, **options)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_the_matrix_has_rows_of_the_devices_kernels_beside_its_copies(self):
        self.env['HBF_PLUGIN_PATH'] = SIM
        done = self.run_hbf('bandwidth', '--matrix', '--tier', 'vram0', '--tier', 'cold0', '--size', '1MiB',
                            '--samples', '6', '--warm-up', '0.01', '--time', '60', '--json')
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)
        rows = json.loads(done.stdout)['rows']
        self.assertEqual({row['status'] for row in rows}, {'pass'})
        names = [(row['src']['name'], row['executor'], row['dst']['name'], row['shape']) for row in rows]
        device = names[1][1].split()[0]
        self.assertEqual(names[:4], [('vram0', 'sim queue', 'vram0', ''),
                                     ('vram0', f'{device} kernel copy/1', 'vram0', ''),
                                     ('vram0', f'{device} kernel triad/1', 'vram0', 'reads two streams, writes one'),
                                     ('vram0', f'{device} kernel pattern_verify/1', 'vram0', 'reads only')])
        self.assertEqual(len(names), 4 + 3, 'kernels do not reach storage')
        for row in rows:
            self.assertTrue(row['emulated'])
            self.assertGreaterEqual(len(row['samples']), 6)

    def test_probe_names_the_kernels_and_builds_none(self):
        self.env['HBF_PLUGIN_PATH'] = SIM
        report = json.loads(self.run_hbf('probe', '--json').stdout)
        device = [candidate for candidate in report['candidates'] if candidate['devices']][0]['devices'][0]
        self.assertIn('copy/1', device['kernels'])
        self.assertIn('pattern_verify/1', device['kernels'])
        text = self.run_hbf('probe', '--explain').stdout
        self.assertRegex(text, rf'{len(device["kernels"])} kernels, built when first used: .*copy/1')
        self.env['HBF_PLUGIN_PATH'] = PLUGINS
        self.assertNotIn('kernels', self.run_hbf('probe', '--explain').stdout, 'the host has none')

    def test_a_tier_is_measured_and_verified(self):
        done = self.run_hbf('bandwidth', *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], CLOSING)
        self.assertIn('verified: every byte of 6 samples', done.stdout)
        self.assertIn('of the best reference copy', done.stdout)
        self.assertNotIn('\x1b', done.stdout + done.stderr)  # no colour and no progress into a pipe

    def test_json_is_one_document_with_every_sample(self):
        done = self.run_hbf('bandwidth', '--json', '--seed', '7', *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report['schema'], report['schema_version'], report['seed']), ('hbf.bandwidth', 1, 7))
        row = report['rows'][0]
        self.assertEqual(row['src']['name'], 'dram0')
        self.assertEqual(len(row['samples']), 6)
        self.assertTrue(all(isinstance(s['bandwidth'], float) and s['verified'] for s in row['samples']))
        self.assertGreater(row['efficiency_one_thread']['bandwidth'], 0)

    def test_storage_is_written_and_read(self):
        done = self.run_hbf('bandwidth', '--json', '--tier', 'cold', '--size', '4MiB', '--samples', '6', '--warm-up', '0.01')
        if done.returncode == 77:
            self.skipTest('this host has no storage tier')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = json.loads(done.stdout)['rows']
        self.assertEqual([r['page_cache'] in ('bypassed', 'hot', 'unknown') for r in rows], [True] * len(rows))
        self.assertGreaterEqual(len(rows), 2)

    def test_wrong_command_lines_are_usage_errors(self):
        for arguments, said in ((['--tier', 'drm0'], 'unknown tier'), (['--mode', 'drm0'], 'unknown tier'),
                                (['--device', 'nope'], 'unknown device'), (['--size', '1XB'], 'unknown unit'),
                                (['--size', '0'], 'smallest'), (['--samples', '0'], '--samples'),
                                (['--no-verify'], "unknown option '--no-verify'"), (['--json', '--csv'], 'exclude'),
                                (['--matrix', '--bidirectional'], 'exclude'), (['--pages', '3m'], 'one of'),
                                (['--launches', '2', '--csv'], '--launches'), (['--as-launh', '1'], 'unknown option'),
                                (['--profile', self.path('missing.json')], 'missing.json'), (['extra'], 'extra')):
            done = self.run_hbf('bandwidth', *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout == '', '--json' not in arguments, done.stdout)  # else the error as a document

    def test_an_unknown_plugin_name_is_an_error(self):
        self.env['HBF_PLUGINS'] = 'none-such'
        done = self.run_hbf('bandwidth')
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('none-such', done.stderr)

    def test_no_plugin_is_77_and_one_that_does_not_work_is_3(self):
        self.env['HBF_PLUGIN_PATH'] = self.path('none')
        os.mkdir(self.path('none'))
        done = self.run_hbf('bandwidth')
        # Plugins that were installed with the command may still be found.
        if done.returncode != 0:
            self.assertEqual(done.returncode, 77, done.stderr)
            self.assertIn('no plugin was found', done.stderr)
        os.mkdir(self.path('bad'))
        with open(self.path('bad/bad.plugin.toml'), 'w', encoding='utf-8') as manifest:
            manifest.write('not a manifest')
        self.env['HBF_PLUGIN_PATH'] = self.path('bad')
        done = self.run_hbf('bandwidth')
        if done.returncode != 0:
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn('no device could be opened', done.stderr)

    def test_launches_are_processes_with_seeds_of_their_own(self):
        done = self.run_hbf('bandwidth', '--launches', '6', '--seed', '7', '--json', *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report['schema'], 'hbf.bandwidth.launches')
        self.assertEqual([d['seed'] for d in report['documents']], [8, 9, 10, 11, 12, 13])
        row = report['rows'][0]
        medians = sorted(d['rows'][0]['bandwidth']['median'] for d in report['documents'])
        self.assertEqual(sorted(row['launch_medians']), medians)
        self.assertEqual((row['ci95_low'], row['ci95_high']), (medians[0], medians[-1]))
        done = self.run_hbf('bandwidth', '--launches', '2', '--output', self.path('r.txt'), *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('2 launches are too few for an interval', done.stdout)
        with open(self.path('r.txt'), encoding='utf-8') as report:
            self.assertIn("median of 2 launches' medians", report.read())

    def test_launches_end_with_the_first_that_is_refused(self):
        done = self.run_hbf('bandwidth', '--launches', '6', '--tier', 'drm0')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count('unknown tier'), 1)

    def test_an_interruption_of_launches_keeps_the_finished_ones(self):
        child = subprocess.Popen([HBF, 'bandwidth', '--launches', '1000', '--json', *QUICK], env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children = f'/proc/{child.pid}/task/{child.pid}/children'
        # Once a launch is there, signals are handled; when it comes after that makes no difference.
        while child.poll() is None and os.path.exists(children):
            with open(children, encoding='ascii') as listed:
                if listed.read():
                    break
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 128 + signal.SIGINT, out + err)
        document = json.loads(out)
        if document['schema'] == 'hbf.error':  # it came before the first launch had anything to tell
            self.assertEqual(document['error']['code'], 'interrupted')
        else:
            self.assertTrue(document['interrupted'])

    def test_pages_asked_for_are_got_or_it_says_so(self):
        done = self.run_hbf('bandwidth', '--pages', '4k', *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('pages asked for: 4k; got, as the kernel says: source 4 KiB, destination 4 KiB', done.stdout)
        done = self.run_hbf('bandwidth', '--pages', '1g', *QUICK)
        self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)
        self.assertIn('source 1 GiB' if done.returncode == 0 else 'unavailable', done.stdout)

    def test_json_lines_end_with_the_verdict(self):
        done = self.run_hbf('bandwidth', '--jsonl', *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line['sequenceNumber'] for line in lines], list(range(len(lines))))
        self.assertEqual(lines[-1]['testRunArtifact']['testRunEnd'], {'status': 'COMPLETE', 'result': 'PASS'})

    def test_the_shapes_of_a_transfer(self):
        quick = ['--size', '1MiB', '--samples', '6', '--warm-up', '0.01', '--time', '60', '--json']
        done = self.run_hbf('bandwidth', '--tier', 'dram0', '--sweep', '--latency', *quick)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = json.loads(done.stdout)['rows']
        shapes = [row['shape'] for row in rows]
        for shape in ('64 KiB a copy', '1 MiB a copy', '16 x 64 KiB, gathered', '64 KiB a copy, queue depth 16'):
            self.assertIn(shape, shapes)
        self.assertNotIn('2 MiB a copy', shapes)  # --size bounds it
        self.assertEqual(len(rows[0]['latencies_64k']), 5)
        done = self.run_hbf('bandwidth', '--tier', 'dram0', '--numa', 'all', *quick)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(all('executor on node' in row['shape'] for row in report['rows']))
        if report['environment']['numa_nodes'] < 2:
            self.assertIn('one NUMA node', report['notes'][0])
        done = self.run_hbf('bandwidth', '--tier', 'dram0', '--bidirectional', *quick)
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)  # one tier has no two directions

    def test_nothing_to_test_is_77(self):
        # Another process holds the storage folder: this one has no cold tier, and that is no failure.
        holder = subprocess.Popen([HBF, 'bandwidth', *QUICK[:4], '--samples', '100000', '--time', '600'], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while holder.poll() is None and self.cpu_seconds(holder.pid) < 0.5:
                time.sleep(0.02)
            done = self.run_hbf('bandwidth', '--tier', 'cold')
            self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
            self.assertIn('no such tier', done.stderr)
            self.assertNotIn('Measured bandwidth', done.stdout)
        finally:
            holder.kill()
            holder.wait(60)

    def profile(self, figure):
        with open(self.path('p.json'), 'w', encoding='utf-8') as out:
            json.dump({'profile': 'p', 'source': 'this test', 'date': '2026-01-31',
                       'floors': [{'src': 'hbm', 'dst': 'hbm', 'gb_per_s': figure}]}, out)
        return self.path('p.json')

    def test_a_sourced_floor_is_judged(self):
        self.assertEqual(self.run_hbf('bandwidth', *QUICK, '--profile', self.profile(0.0001)).returncode, 0)
        done = self.run_hbf('bandwidth', *QUICK, '--profile', self.profile(1e6))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("profile 'p' (this test, 2026-01-31)", done.stdout)
        self.assertNotIn('Measured bandwidth', done.stdout)

    def test_output_file_is_whole_or_absent(self):
        report = self.path('r.json')
        done = self.run_hbf('bandwidth', '--json', '--output', report, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], CLOSING)
        with open(report, encoding='utf-8') as content:
            self.assertEqual(json.load(content)['status'], 'pass')
        for bad in (self.path('missing/r.json'), self.folder.name):
            begin = time.monotonic()
            done = self.run_hbf('bandwidth', '--output', bad)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(bad, done.stderr)
            self.assertLess(time.monotonic() - begin, 10)  # said before the run, not after

    def test_a_full_disk_is_an_error(self):
        done = self.run_hbf('bandwidth', '--output', '/dev/full', *QUICK)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('No space left', done.stderr)
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = self.run_hbf('bandwidth', *QUICK, stdout=full)
        self.assertEqual(done.returncode, 3)
        self.assertIn('No space left', done.stderr)

    def interrupt(self, number):
        report = self.path('r.json')
        child = subprocess.Popen([HBF, 'bandwidth', '--json', '--output', report, '--tier', 'dram0', '--size', '4MiB',
                                  '--warm-up', '0.01', '--samples', '100000', '--time', '600'], env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Busy for a while: then it is sampling. (That nothing else is waited for makes this slow at worst, never wrong.)
        while child.poll() is None and self.cpu_seconds(child.pid) < 1.5:
            time.sleep(0.02)
        child.send_signal(number)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 128 + number, out + err)
        self.assertEqual(sorted(n for n in os.listdir(self.folder.name) if 'r.json' in n), ['r.json'])
        with open(report, encoding='utf-8') as content:
            partial = json.load(content)
        self.assertTrue(partial['interrupted'])
        self.assertTrue(partial['rows'][0]['interrupted'])
        return partial, out

    @staticmethod
    def cpu_seconds(pid):
        try:
            with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
                fields = stat.read().rsplit(')', 1)[1].split()
        except OSError:
            return 1e9
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def test_interrupted_by_the_user(self):
        self.interrupt(signal.SIGINT)

    def test_terminated(self):
        self.interrupt(signal.SIGTERM)

    def test_killed_leaves_no_half_file(self):
        report = self.path('r.json')
        with open(report, 'w', encoding='utf-8') as earlier:
            earlier.write('{"earlier": true}')
        child = subprocess.Popen([HBF, 'bandwidth', '--json', '--output', report, '--tier', 'dram0', '--time', '600'],
                                 env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while child.poll() is None and self.cpu_seconds(child.pid) < 0.5:
            time.sleep(0.02)
        child.kill()
        child.wait(60)
        with open(report, encoding='utf-8') as content:
            self.assertEqual(json.load(content), {'earlier': True})

    def on_terminal(self, **env):
        master, slave = pty.openpty()
        child = subprocess.Popen([HBF, 'bandwidth', *QUICK], env={**self.env, 'TERM': 'xterm', **env}, stdin=slave,
                                 stdout=slave, stderr=slave)
        os.close(slave)
        seen = b''
        while True:
            if not select.select([master], [], [], 120)[0]:
                break
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        os.close(master)
        self.assertEqual(child.wait(60), 0, seen)
        return seen.decode()

    def test_colour_and_progress_only_on_a_terminal(self):
        self.assertIn('\x1b[32mPASS', self.on_terminal())
        plain = self.on_terminal(NO_COLOR='1')
        self.assertNotIn('\x1b[3', plain)
        self.assertIn('warming up', plain)  # progress is no colour


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
