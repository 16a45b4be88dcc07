#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that the documents show, each document in a folder of its own, and compares exit codes and output.

    documents_commands_test.py BUILD_FOLDER [ROOT [DOCUMENT...]]

A command that ends with another code than 0 says so in its comment ("# exit 1"). In a block ```console the lines below a
command are what it prints: figures may differ, and … stands for anything. documents/rules.py says what is run in another
form, and why.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from documents import rules, run_commands
from documents_test import SOURCE, list_documents

SECONDS = 240


class Document:
    def __init__(self, root, build, name):
        self.root, self.build, self.name = root, build, name
        self.failures, self.notes, self.ran = [], [], 0

    def note(self, command, what, reason):
        self.notes.append(f'  {what}: {" ".join(command.text.split())}\n      {reason}')

    def has(self, file, text):
        path = self.root / file
        return path.is_file() and text in path.read_text(encoding='utf-8')

    def choose(self):
        """(command, text to run) of what is run here."""
        chosen = []
        commands = run_commands.commands_of((self.root / self.name).read_text(encoding='utf-8'))
        if self.name in rules.FOLLOWED:
            file, text, reason = rules.FOLLOWED[self.name]
            self.notes.append(f'  {len(commands)} commands run by another test: {reason}')
            if not self.has(file, text):
                self.failures.append(f'{self.name}: {file} does not run its commands any more')
            return chosen
        for command in commands:
            if command.text.strip().startswith('./dev demo'):
                self.note(command, 'in part', 'what it runs after the build, as it stands in ./dev')
                texts = rules.demo_commands((self.root / 'dev').read_text(encoding='utf-8'))
            else:
                texts = [command.text]
            for text in texts:
                what, found, reasons = rules.decide(text, self.build)
                if what == 'elsewhere':
                    if not self.has(found.file, found.text):
                        self.failures.append(f'{self.name}:{command.line}: {text}\n'
                                             f'    {found.file} does not run it any more')
                    self.note(command, f'run by {found.file}', found.reason)
                elif what == 'run':
                    for reason in reasons:
                        self.note(command, 'bounded', reason)
                    chosen.append((command, found))
                else:
                    self.failures.append(f'{self.name}:{command.line}: {text}\n    no rule says what is to be done with it')
        return chosen

    def run(self, scratch):
        try:
            chosen = self.choose()
        except ValueError as error:
            self.failures.append(f'{self.name}: {error}')
            return
        if not chosen:
            return
        work, home = scratch / 'work', scratch / 'home'
        environment = make_place(self.root, self.build, self.name, work, home)
        results = run_commands.run([text for _, text in chosen], work, scratch / 'results', environment, SECONDS)
        for (command, text), (code, said) in zip(chosen, results):
            self.ran += 1
            if problem := run_commands.check(self.name, command, text, code, said):
                self.failures.append(problem)
                if code is None:
                    break


def make_place(root, build, name, work, home):
    """A folder in which a document's commands find what a checkout has: the build, the sources, `hbf` on PATH, a home."""
    below = (root / name).parent
    if (below / 'meson.build').exists() and below != root:
        shutil.copytree(below, work)  # a project of its own, whose commands are given inside it
    else:
        work.mkdir(parents=True)
        for folder in root.iterdir():
            if not folder.name.startswith(('.', 'build')):
                (work / folder.name).symlink_to(folder)
        (work / 'build').mkdir()  # a folder of its own, so that nothing is written into the real one
        for entry in build.iterdir():
            if entry.is_dir():
                (work / 'build' / entry.name).symlink_to(entry)
    (home / 'bin').mkdir(parents=True)
    (home / 'bin/hbf').symlink_to(build / 'tools/hbf')
    (home / '.ssh').mkdir(mode=0o700)
    if shutil.which('ssh-keygen'):
        key = home / '.ssh/id_ed25519'
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', key], check=True)
        public = (home / '.ssh/id_ed25519.pub').read_text(encoding='utf-8').split()
        (work / 'allowed_signers').write_text(f'lab@example.org {public[0]} {public[1]}\n', encoding='utf-8')
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(('HBF_', 'XDG_', 'LC_', 'LD_')) and key not in ('HOME', 'LANG')}
    environment.update(HOME=str(home), PATH=f'{home}/bin:{environment.get("PATH", "/usr/bin:/bin")}', NO_COLOR='1',
                       LC_ALL='C.UTF-8', TMPDIR=str(home))
    return environment


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / 'build').resolve()
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else SOURCE
    documents = [Document(root, build, name) for name in (sys.argv[3:] or list_documents(root))]
    with tempfile.TemporaryDirectory(prefix='hbf-documents-') as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        places = [pathlib.Path(scratch) / str(number) for number in range(len(documents))]
        list(pool.map(lambda document, place: (place.mkdir(), document.run(place)), documents, places))
    for document in documents:
        print(f'{document.name}: {document.ran} run')
        print(*document.notes, sep='\n', end='\n' if document.notes else '')
    failures = [failure for document in documents for failure in document.failures]
    for failure in failures:
        print(failure, file=sys.stderr)
    ran = sum(document.ran for document in documents)
    print(f'{ran} commands run, {len(failures)} wrong')
    return 1 if failures or ran == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
