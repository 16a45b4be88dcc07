# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of one document, one after the other in one shell, and compares what they print with what it shows."""

import os
import re
import shlex
import signal
import subprocess

from documents import markdown

SIZES = r'(?:[KMGT]i?B|B|kB|ns|us|ms|s|min|h)'
NUMBER = r'[+-]?\d[\d.,]*(?:e[+-]?\d+)?'


def shape(line):
    """A line that a document shows, as a pattern: figures and sizes may differ, and … is anything."""
    out = ''
    for part in re.split(rf'(…|(?<![\w.]){NUMBER}|\s+)', line.strip()):
        if part == '…':
            out += '.*?'
        elif part.isspace():
            out += r'\s+'
        elif re.fullmatch(NUMBER, part):
            out += NUMBER
        else:
            out += SIZES if re.fullmatch(SIZES, part) else re.escape(part)
    return re.compile(out)


def missing(shown, said):
    """The first line shown that is not in what was said, in this order; None if all are there."""
    lines = [line.strip() for line in said.splitlines()]
    at = 0
    for line in shown:
        if not line.strip() or line.strip() == '…':
            continue
        pattern = shape(line)
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


def script_of(commands, folder):
    """A script that leaves the output of command N in N.out and its exit code in N.code."""
    lines = ['set -uo pipefail', 'shopt -s expand_aliases']
    for number, text in enumerate(commands):
        place = shlex.quote(str(folder / str(number)))
        lines.append(f'eval {shlex.quote(text)} >{place}.out 2>&1 </dev/null; echo $? >{place}.code')
    return '\n'.join(lines)


def run(commands, work, results, environment, seconds):
    """Runs texts of commands in `work`. (exit code or None if it never ended, output) of each."""
    results.mkdir()
    process = subprocess.Popen(['bash', '-c', script_of(commands, results)], cwd=work, env=environment,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    out = []
    for number in range(len(commands)):
        code, said = results / f'{number}.code', results / f'{number}.out'
        out.append((int(code.read_text()) if code.exists() else None,
                    said.read_text(encoding='utf-8', errors='replace') if said.exists() else ''))
    return out


def check(name, command, text, code, said):
    """What is wrong with how a command ended, or None."""
    where = f'{name}:{command.line}: {command.text}'
    if text != command.text:
        where += f'\n    run as: {text}'
    last = '\n'.join('    | ' + line for line in said.strip().splitlines()[-12:])
    if code is None:
        return f'{where}\n    did not end, or was never reached\n{last}'
    if code != command.exit:
        return f'{where}\n    ended with exit code {code}, the document says {command.exit}\n{last}'
    if (lost := missing(command.shown, said)) is not None:
        return f'{where}\n    does not print what the document shows: {lost.strip()}\n{last}'
    return None


def commands_of(text):
    blocks, _ = markdown.split(text)
    return [command for block in blocks if markdown.is_shell(block) for command in markdown.commands(block)]
