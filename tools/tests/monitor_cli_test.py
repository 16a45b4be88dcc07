#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbf monitor on a process that runs, is stopped, or has threads that wait for each other."""
import json
import os
import signal
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

HBF, SUBJECT = sys.argv[1:3]


def hbf(*words):
    return subprocess.run([HBF, 'monitor', *words], capture_output=True, text=True, timeout=60)


class Subject:
    """A process with a page."""

    def __enter__(self):
        self.process = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == 'READY\n'
        self.pid = str(self.process.pid)
        return self

    def tell(self, letter):
        self.process.stdin.write(letter)
        self.process.stdin.flush()

    def stop(self):
        self.tell('s')
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Monitor(unittest.TestCase):
    def test_once(self):
        with Subject() as subject:
            out = hbf(subject.pid, '--once')
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn(f'random llama of process {subject.pid} (monitor_subject), running, placement ahas', out.stdout)
        self.assertIn('EMULATED memory', out.stdout)
        self.assertIn('HBM of a test (emulated)', out.stdout)
        self.assertIn('25.0 % of 1000 prompt tokens in 10 lookups', out.stdout)
        self.assertIn('block 5 hbf -> hbm (hot): done, 128 KiB', out.stdout)
        self.assertIn('no wrong checksum', out.stdout)

    def test_json(self):
        with Subject() as subject:
            out = hbf(subject.pid, '--once', '--json')
        told = json.loads(out.stdout)
        self.assertEqual(told['schema'], 'hbf.monitor')
        self.assertEqual(told['pid'], int(subject.pid))
        self.assertIs(told['emulated'], True)
        self.assertEqual([tier['name'] for tier in told['tiers']], ['hbm', 'hbf'])
        self.assertEqual(told['tiers'][0]['bands'], {'hot': 1, 'settled': 0, 'warm': 1, 'cold': 0})
        self.assertEqual(told['tiers'][1]['fragmentation'], 0.5)
        self.assertEqual(told['counters']['miss_evicted'], 6)
        self.assertEqual(told['scheduler']['half_life_requests'], 300)
        self.assertEqual(told['moves'][0]['outcome'], 'done')

    def test_a_stopped_process_is_told_from_as_it_stands(self):
        with Subject() as subject:
            subject.stop()
            once, dump = hbf(subject.pid, '--once'), hbf(subject.pid, '--dump-scheduler-state')
        self.assertEqual((once.returncode, dump.returncode), (0, 0), once.stderr + dump.stderr)
        self.assertIn('stopped, placement', once.stdout)
        self.assertIn('stopped: model random llama', dump.stdout)
        self.assertIn('0 hbm 0.9700 hot hbm +0.00 9 3 64 ---- hot', dump.stdout)
        self.assertIn('5 hbm 0.1000 warm hbf -1.50 9 3 64 p--- hot', dump.stdout)

    def test_a_lock_that_is_never_given_back_is_named(self):
        with Subject() as subject:
            subject.tell('l')
            self.assertEqual(subject.process.stdout.readline(), 'LOCKED\n')
            waiting = 0
            while waiting == 0:  # the second thread comes to the lock in its own time
                lock = json.loads(hbf(subject.pid, '--json').stdout)['locks'][0]
                waiting = lock['waiting']
            tasks = os.listdir(f'/proc/{subject.pid}/task')
            dump = hbf(subject.pid, '--dump-scheduler-state').stdout
        self.assertEqual(lock['name'], 'cache')
        self.assertIn(str(lock['holder_tid']), tasks)
        self.assertRegex(dump, rf'lock cache: held by thread {lock["holder_tid"]} for .*, 1 waiting')
        self.assertRegex(dump, r'thread mover \(\d+\): 0 rounds')

    def test_why(self):
        with Subject() as subject:
            five, none, wrong = (hbf(subject.pid, '--why', block) for block in ('5', '7', 'x'))
            beyond = hbf(subject.pid, '--why', '99')
        self.assertIn('block 5: layer 3, 64 tokens, in hbm\n', five.stdout)
        self.assertIn('between T_cold 0.05 and T_hbf 0.30: it belongs in hbf', five.stdout)
        self.assertIn('used 9 times', five.stdout)
        self.assertIn('where it is: its score rose above T_hbm', five.stdout)
        self.assertIn('waits to be moved to hbf', five.stdout)
        self.assertIn('pinned', five.stdout)
        self.assertRegex(five.stdout, r'ago: hbf -> hbm, done \(hot\)')
        self.assertEqual([none.returncode, beyond.returncode, wrong.returncode], [3, 3, 2])
        self.assertIn('no such block', none.stderr)
        self.assertIn('below 16', beyond.stderr)

    def test_why_no_hits(self):
        with Subject() as subject:
            out = hbf(subject.pid, '--why-no-hits').stdout
        self.assertIn('250 of 1000 prompt tokens were there (25.0 %)', out)
        self.assertLess(out.index('6 times the next block had been dropped'), out.index('3 times the next block was never'))
        self.assertIn('give a tier more room', out)

    def test_metrics(self):
        with Subject() as subject:
            out = hbf(subject.pid, '--metrics').stdout
        labels = f'pid="{subject.pid}",model="random llama",emulated="true"'
        self.assertIn(f'hbf_kv_hit_tokens_total{{{labels}}} 250\n', out)
        self.assertIn(f'hbf_kv_used_bytes{{{labels},tier="hbm"}} 921600\n', out)
        self.assertIn('# TYPE hbf_kv_hit_tokens_total counter\n', out)
        for line in out.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) hbf_kv_\w+ .+|hbf_kv_\w+\{.*\} [0-9.e+-]+)$')

    def test_live_ends_when_asked_and_when_the_process_has(self):
        with Subject() as subject:
            for signal_sent in (signal.SIGINT, None):
                watching = subprocess.Popen([HBF, 'monitor', subject.pid, '--interval', '0.1'], stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True)
                self.assertIn('random llama', watching.stdout.readline())
                if signal_sent:
                    watching.send_signal(signal_sent)
                else:
                    subject.process.kill()
                    subject.process.wait()
                said, errors = watching.communicate(timeout=60)
                self.assertEqual(watching.returncode, 0 if signal_sent else 3, errors)
        self.assertIn('gone', said)
        self.assertIn('has ended', errors)

    def test_which_process(self):
        self.assertIn('no process id', hbf('first').stderr)
        self.assertEqual(hbf('first').returncode, 2)
        self.assertEqual(hbf('4194999').returncode, 3)
        mine = hbf(str(os.getpid()), '--once')
        self.assertEqual(mine.returncode, 3)
        self.assertIn('shows no KV cache', mine.stderr)
        with Subject() as one, Subject() as two:
            listed = hbf('--list').stdout
            self.assertIn(one.pid, listed)
            self.assertIn(two.pid, listed)
            self.assertEqual(hbf('--why', '5').returncode, 2)
        self.assertEqual(hbf('--list', '--metrics').returncode, 2)
        self.assertEqual(hbf('--listen', '127.0.0.1').returncode, 2)


class Serving(unittest.TestCase):
    def serve(self, *words):
        server = subprocess.Popen([HBF, 'monitor', '--serve', '0', *words], stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        return server, server.stderr.readline().split()[-1]

    def test_metrics_over_http(self):
        with Subject() as subject:
            server, url = self.serve()
            self.assertRegex(url, r'^http://127\.0\.0\.1:\d+/metrics$')
            with urllib.request.urlopen(url, timeout=60) as answer:
                self.assertIn('version=0.0.4', answer.headers['Content-Type'])
                self.assertIn(f'hbf_kv_up{{pid="{subject.pid}"', answer.read().decode())
            with self.assertRaises(urllib.error.HTTPError) as wrong:
                urllib.request.urlopen(url.replace('/metrics', '/shell'), timeout=60)
            self.assertEqual(wrong.exception.code, 404)
            wrong.exception.close()
            with self.assertRaises(urllib.error.HTTPError) as post:
                urllib.request.urlopen(url, data=b'x', timeout=60)
            self.assertEqual(post.exception.code, 405)
            post.exception.close()
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(60), 0)

    def test_who_sends_nothing_or_rubbish_does_not_hold_it_up(self):
        _, url = self.serve()
        port = int(url.split(':')[2].split('/')[0])
        with socket.create_connection(('127.0.0.1', port)), socket.create_connection(('127.0.0.1', port)) as rubbish:
            rubbish.sendall(b'\xff' * 100_000)
            with urllib.request.urlopen(url, timeout=60) as answer:
                self.assertEqual(answer.status, 200)

    def test_an_address_that_is_none_or_taken(self):
        self.assertEqual(hbf('--serve', '0', '--listen', 'nowhere').returncode, 2)
        _, url = self.serve()
        taken = hbf('--serve', url.split(':')[2].split('/')[0])
        self.assertEqual(taken.returncode, 3)
        self.assertIn('in use', taken.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
