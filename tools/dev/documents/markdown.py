# SPDX-License-Identifier: Apache-2.0
"""What a document holds that can be true or false: code blocks, commands, links, headings, tables."""

import re
import subprocess
from dataclasses import dataclass, field

FENCE = re.compile(r'^(\s*)(```+|~~~+)\s*(\S*)')
# A block that does not say what it holds is shell if a line of it begins like one.
COMMAND_WORDS = re.compile(r'^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:sudo )?'
                           r'(?:hbf|\./dev|build/\S+|meson|ninja|git|apt|apt-get|dpkg|tar|gdb|c\+\+|pkg-config)(?: |$)')
SHELL = {'sh', 'bash', 'shell'}
LINK = re.compile(r'!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)')
REFERENCE = re.compile(r'^\s*\[[^\]]+\]:\s*(\S+)', re.MULTILINE)
URL = re.compile(r'https?://[^\s)>\]`"\'|]+')
HEREDOC = re.compile(r'<<-?\s*([\'"]?)(\w+)\1')
EXIT = re.compile(r'#.*\bexit (\d+)\b')


@dataclass
class Block:
    line: int        # of its first line of content, from 1
    info: str        # 'sh', 'console', 'toml', ...; '' where nothing is said
    text: str


@dataclass
class Command:
    line: int
    text: str
    exit: int = 0
    shown: list = field(default_factory=list)   # what the document says that it prints


def split(text):
    """(blocks, prose): the code blocks, and the rest with their lines empty."""
    blocks, prose = [], []
    lines = text.split('\n')
    number, in_list, blank = 0, False, True
    while number < len(lines):
        line = lines[number]
        if fence := FENCE.match(line):
            indent, mark, info = len(fence[1]), fence[2], fence[3]
            begin = number = number + 1
            while number < len(lines) and not lines[number].strip().startswith(mark):
                number += 1
            body = [one[min(indent, len(one) - len(one.lstrip())):] for one in lines[begin:number]]
            blocks.append(Block(begin + 1, info, '\n'.join(body)))
            prose += [''] * (number - begin + 2)
            number, blank = number + 1, False
            continue
        if line.startswith('    ') and blank and not in_list:
            begin = number
            while number < len(lines) and (lines[number].startswith('    ') or not lines[number].strip()):
                number += 1
            blocks.append(Block(begin + 1, '', '\n'.join(one[4:] for one in lines[begin:number]).rstrip('\n')))
            prose += [''] * (number - begin)
            continue
        if re.match(r'\s*(?:[-*+]|\d+\.) ', line):
            in_list = True
        elif line.strip() and not line.startswith(' '):
            in_list = False
        blank = not line.strip()
        prose.append(line)
        number += 1
    return blocks, '\n'.join(prose)


def is_shell(block):
    if block.info:
        return block.info in SHELL | {'console'}
    return any(COMMAND_WORDS.match(line) for line in block.text.splitlines())


def whole(text):
    """Whether the shell would run this, or wait for more of it."""
    if found := HEREDOC.search(text):
        return text.rstrip('\n').split('\n')[-1].strip() == found[2]
    if text.endswith('\\'):
        return False
    checked = subprocess.run(['bash', '-n', '-c', text], capture_output=True, text=True, check=False)
    return checked.returncode == 0


def commands(block):
    """The commands of a shell block; a ValueError where the shell would still wait for the end of one."""
    session = block.info == 'console' or any(line.startswith('$ ') for line in block.text.splitlines())
    found, pending, begin = [], '', 0
    for number, line in enumerate(block.text.split('\n'), block.line):
        if not pending:
            if session and not line.startswith('$ '):
                if found:
                    found[-1].shown.append(line)
                continue
            if not line.strip() or line.lstrip().startswith('#'):
                continue
            begin, pending = number, line.removeprefix('$ ') if session else line
        else:
            pending += '\n' + (line.removeprefix('> ') if session else line)
        if whole(pending):
            said = EXIT.search(pending)
            found.append(Command(begin, pending, int(said[1]) if said else 0))
            pending = ''
    if pending:
        raise ValueError(f'line {begin}: the command does not end: {pending}')
    return found


def without_code(prose):
    return re.sub(r'(`+)(?!`).*?(?<!`)\1(?!`)', '``', prose, flags=re.DOTALL)


def links(prose):
    """Targets of links and the addresses that stand in the prose, code left out."""
    plain = without_code(prose)
    targets = LINK.findall(plain) + REFERENCE.findall(plain)
    return [one for one in targets if '://' not in one], sorted({one.rstrip('.,;:') for one in URL.findall(plain)})


def anchors(prose):
    """The anchors of the headings, as GitHub and the documentation site make them."""
    seen, out = {}, set()
    for heading in re.findall(r'^#{1,6}\s+(.*?)\s*#*$', prose, re.MULTILINE):
        text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading)
        slug = re.sub(r'[^\w\- ]', '', text.replace('`', '').lower()).replace(' ', '-')
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        out.add(slug if count == 0 else f'{slug}-{count}')
    return out


def code_spans(prose):
    return [one.replace('\n', ' ') for one in re.findall(r'(?<!`)`([^`]+)`(?!`)', prose)]


def tables(prose):
    """Every table as a list of rows, a row as (line, cells)."""
    out, current = [], []
    for number, line in enumerate(prose.split('\n') + [''], 1):
        if line.lstrip().startswith('|'):
            cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip())[1:-1]]
            if not all(re.fullmatch(r':?-+:?', cell) for cell in cells):
                current.append((number, cells))
        elif current:
            out.append(current)
            current = []
    return out
