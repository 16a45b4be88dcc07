# SPDX-License-Identifier: Apache-2.0
"""hbf doctor as people and scripts meet it, on machines that the test brings: verdicts, exit codes, commands, refusals.

Run: doctor_cli_test.py HBF WRITE_MACHINES DOCUMENT
     doctor_cli_test.py HBF --write DOCUMENT     writes the document's table of checks anew
"""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

HBF = os.path.abspath(sys.argv[1])
IN_MEMORY = '/dev/shm' if os.access('/dev/shm', os.W_OK | os.X_OK) else None  # thousands of small files
FOLDER = tempfile.TemporaryDirectory(prefix='hbf-doctor-', dir=IN_MEMORY)
BEGIN, END = '<!-- checks: written by tools/tests/doctor_cli_test.py -->\n', '<!-- end of checks -->\n'

# What differs from the machine on which all is well: exit code, and every check that does not stay as it was there.
EXPECTED = {
    'good': (0, {}),
    'iommu-redirect': (1, {'iommu.translation': 'fail', 'pci.acs_redirect': 'warn'}),
    'narrow-slot': (0, {'pci.link_width': 'warn'}),
    'numa-balancing': (0, {'numa.balancing': 'warn'}),
    'small-memlock': (0, {'limits.memlock': 'warn'}),
    'cgroup-limit': (0, {'cgroup.memory_max': 'warn', 'cgroup.pids': 'warn', 'cgroup.io': 'warn', 'cgroup.nodes': 'warn'}),
    'old-kernel': (1, {'kernel.version': 'fail', 'cxl.kernel': 'fail', 'kernel.io_uring': 'not_applicable',
                       'storage.direct_alignment': 'warn'}),
    'ecc-pending': (1, {'ecc.memory': 'fail', 'ecc.kernel_log': 'fail', 'pci.errors': 'warn'}),
    'no-hugepages': (0, {'memory.huge_pages': 'warn', 'memory.thp': 'warn'}),
    'container': (1, {'host.container': 'warn', 'kernel.device_memory': 'cannot_tell', 'iommu.faults': 'cannot_tell',
                      'ecc.kernel_log': 'cannot_tell', 'cgroup.memory_max': 'warn', 'storage.filesystem': 'fail'}),
    'virtual-machine': (0, {'host.virtual_machine': 'warn', 'ecc.memory': 'cannot_tell'}),
    'unreadable': (0, {check: 'cannot_tell' for check in (
        'numa.balancing', 'memory.ksm', 'ecc.memory', 'iommu.translation', 'limits.memlock', 'limits.open_files',
        'storage.scheduler', 'pci.link_width')}),
    'non-root': (0, {'host.privileges': 'warn', 'pci.acs_redirect': 'cannot_tell', 'pci.relaxed_ordering': 'cannot_tell',
                     'iommu.faults': 'cannot_tell', 'ecc.kernel_log': 'cannot_tell'}),
}


def run_hbf(*arguments, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith('HBF_') and k != 'NO_COLOR'} | variables
    return subprocess.run([HBF, 'doctor', *arguments], env=env, capture_output=True, text=True, timeout=60, check=False)


def root(name):
    return os.path.join(FOLDER.name, name)


def report(name, *arguments):
    done = run_hbf('--root', root(name), '--json', *arguments)
    return done.returncode, json.loads(done.stdout)


def verdicts(document):
    return {finding['id']: finding['verdict'] for finding in document['findings']}


def table_of_checks():
    rows = [BEGIN, '| check | what has to hold | where it looks | why |\n', '|---|---|---|---|\n']
    for check in json.loads(run_hbf('--list', '--json').stdout)['checks']:
        cells = [f"`{check['id']}`", check['title'], f"`{check['reads']}`", check['why']]
        rows.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |\n')
    return ''.join(rows) + END


class Doctor(unittest.TestCase):
    def test_each_machine_has_its_verdicts_and_exit_code(self):
        good = verdicts(report('good')[1])
        self.assertEqual(set(EXPECTED), set(os.listdir(FOLDER.name)))
        for name, (code, changed) in EXPECTED.items():
            with self.subTest(name):
                got, document = report(name)
                self.assertEqual({**good, **changed}, verdicts(document))
                self.assertEqual(got, code)
                counts = document['counts']
                self.assertEqual(document['summary'], 'doctor: {pass} pass, {warn} warn, {fail} fail, {not_applicable} not '
                                 'applicable, {cannot_tell} cannot tell'.format(**counts))
                self.assertEqual(sum(counts.values()), len(document['findings']))

    def test_every_trouble_has_evidence_reason_and_remedy(self):
        for name in EXPECTED:
            for finding in report(name)[1]['findings']:
                self.assertTrue(finding['found'] and finding['why'] and finding['remedy'] and finding['title'], finding)
                if finding['verdict'] in ('warn', 'fail'):
                    self.assertTrue(finding['evidence'], finding)

    def test_text_ends_with_the_summary_and_names_what_root_would_see(self):
        done = run_hbf('--root', root('non-root'))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], r'^doctor: \d+ pass, 1 warn, 0 fail, \d+ not applicable, \d+ cannot tell$')
        self.assertRegex(done.stdout, r'\nleft out without root: .*pci\.acs_redirect')
        self.assertNotIn('\x1b', done.stdout)

    def test_colour_is_for_terminals(self):
        def on_a_terminal(**variables):
            reader, writer = pty.openpty()
            with subprocess.Popen([HBF, 'doctor', '--root', root('old-kernel')], stdout=writer,
                                  env=dict(os.environ, TERM='xterm', **variables)) as process:
                os.close(writer)
                text = b''
                try:
                    while part := os.read(reader, 65536):
                        text += part
                except OSError:
                    pass  # the other end was closed
                process.wait(60)
            os.close(reader)
            return text
        self.assertIn(b'\x1b[', on_a_terminal(NO_COLOR=''))
        self.assertNotIn(b'\x1b[', on_a_terminal(NO_COLOR='1'))

    def test_fixes_are_printed_and_nothing_is_changed(self):
        path = pathlib.Path(root('numa-balancing'))
        before = sorted((str(file), file.read_bytes()) for file in path.rglob('*') if file.is_file())
        done = run_hbf('--root', str(path), '--fix')
        self.assertEqual(done.returncode, 0)
        self.assertIn('\n#   changes: pages stay on the node they were put on; does not survive a reboot\n'
                      'sysctl -w kernel.numa_balancing=0\n', done.stdout)
        self.assertIn('; survives a reboot\n', done.stdout)
        self.assertEqual(before, sorted((str(file), file.read_bytes()) for file in path.rglob('*') if file.is_file()))
        for name in EXPECTED:  # a shell reads every script of commands without a mistake
            script = run_hbf('--root', root(name), '--fix').stdout
            read = subprocess.run(['sh', '-n'], input=script, capture_output=True, text=True, check=False)
            self.assertEqual((read.returncode, read.stderr), (0, ''), script)

    def test_checks_are_chosen(self):
        document = report('numa-balancing', '--check', 'numa', '--check', 'memory.thp')[1]
        self.assertEqual(list(verdicts(document)),
                         ['memory.thp', 'numa.balancing', 'numa.demotion', 'numa.nodes_without_cpus'])
        self.assertEqual(report('numa-balancing', '--check', 'ecc.memory')[0], 0)
        code, document = report('numa-balancing', '--check', 'numa.balancing', '--strict')
        self.assertEqual((code, document['counts']['warn']), (1, 1))
        self.assertEqual(report('unreadable', '--check', 'memory.ksm')[0], 3)
        self.assertEqual(report('unreadable', '--check', 'memory')[0], 0)
        self.assertEqual(report('unreadable', '--check', 'memory', '--strict')[0], 3)

    def test_wrong_lines_are_refused(self):
        for arguments, says in ((('--check', 'numa.balncing'), 'did you mean "numa.balancing"'),
                                (('--root', '/nowhere'), '--root /nowhere'),
                                (('--json', '--fix'), '--fix prints commands'),
                                (('--roof', '/'), "unknown option '--roof'")):
            done = run_hbf(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(says, done.stderr)

    def test_a_bad_list_of_versions_is_an_error_with_its_place(self):
        with tempfile.NamedTemporaryFile('w', suffix='.toml') as file:
            file.write('[[bad]]\nid = "x"\ncolour = 3\n')
            file.flush()
            done = run_hbf('--root', root('good'), '--known-bad', file.name)
            self.assertEqual((done.returncode, done.stdout), (3, ''))
            self.assertIn(file.name + ":3:1: unknown key 'colour'", done.stderr)
        self.assertEqual(run_hbf('--known-bad', '/nowhere.toml').returncode, 3)

    def test_this_machine(self):
        done = run_hbf('--json')
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual((document['schema_version'], document['root']), (1, '/'))

    def test_the_document_has_every_check(self):
        text = pathlib.Path(sys.argv[3]).read_text(encoding='utf-8')
        found = re.search(re.escape(BEGIN) + '.*' + re.escape(END), text, re.DOTALL)
        self.assertEqual(found[0], table_of_checks(), f'write it anew: {sys.argv[0]} HBF --write DOCUMENT')


if __name__ == '__main__':
    if sys.argv[2] == '--write':
        document = pathlib.Path(sys.argv[3])
        old = document.read_text(encoding='utf-8')
        pattern = re.escape(BEGIN) + '.*' + re.escape(END)
        document.write_text(re.sub(pattern, lambda _: table_of_checks(), old, flags=re.DOTALL), encoding='utf-8')
        sys.exit(0)
    subprocess.run([sys.argv[2], FOLDER.name], check=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
