# SPDX-License-Identifier: Apache-2.0
"""What is done with a command that a document shows: run as it stands, in a bounded form, or looked up where it is run.

Nothing is passed over in silence: a command that no line here knows fails, and each other form is printed with its reason.
"""

import re
from dataclasses import dataclass
from typing import Callable

# Programs that a document's commands may begin with and that are run as they stand.
RUN = {'hbf', 'build/tools/hbf', 'build/conformance/runner/hbf-case', 'cat', 'cd', 'echo', 'export', 'grep', 'head', 'if',
       'ls', 'mkdir', 'printf', 'python3', 'rm', 'sed', 'sha256sum', 'tail', 'test'}


@dataclass
class Bound:
    """A command that is run, in a form that takes seconds or that needs no fixture from elsewhere."""
    pattern: str
    edit: Callable[[str], str]
    reason: str


@dataclass
class Elsewhere:
    """A command that something else runs: `text` stands in `file`, so that it cannot go unnoticed from there."""
    pattern: str
    file: str
    text: str
    reason: str


def before_comment(text, more):
    """Adds words to a command of one line, before redirections, pipes and its comment."""
    body, mark, comment = re.match(r'(.*?)(\s+#.*|$)', text, re.DOTALL).group(1, 2, 2)
    at = re.search(r'\s(?:\d?>|\||&&|;)', body)
    cut = at.start() if at else len(body)
    return body[:cut] + ' ' + more + body[cut:] + (comment if mark else '')


def adding(more, unless=''):
    return lambda text: text if unless and re.search(unless, text) else before_comment(text, more)


def replacing(pattern, by):
    return lambda text: re.sub(pattern, lambda _: by, text)


def bounds(build):
    host = f'{build}/plugins/host/hbf_plugin_host.so'
    short = r'(?=.*\bhbf )'
    return [
        Bound(r'/opt/acme/hbf_plugin_acme\.so', replacing(r'/opt/acme/hbf_plugin_acme\.so', host),
              'the plugin of this project stands for one of somebody else'),
        Bound(r'^gdb --args ', replacing(r'^gdb --args ', ''), 'without the debugger, which is no package of this project'),
        Bound(short + r'.*\bbandwidth\b(?!.*(?:--help|HBF_PLUGINS=|--latency))',
              adding('--size 4MiB --samples 6 --warm-up 0.01 --time 30'),
              'a run of 25 seconds and more becomes six small samples'),
        Bound(short + r'.*\bbandwidth\b.*--latency',
              adding('--tier dram0 --size 4MiB --samples 6 --warm-up 0.01 --time 6'), 'one tier, a few seconds'),
        # Until each pattern was over each pair once, however busy the machine is.
        Bound(short + r'.*\bcorruption\b(?!.*--help).*--time \S+',
              replacing(r'--time \S+', '--iterations 1 --bytes 256KiB'), 'half a minute and more becomes one round'),
        Bound(short + r'.*\bcorruption\b.*--inject (?!.*--iterations)',
              adding('--iterations 1 --bytes 64KiB --pairs "dram0->hbf0"'), 'half a minute becomes one round of one pair'),
        Bound(short + r'.*\bcorruption\b(?!.*(?:--help|--time|--iterations|--rate))',
              adding('--iterations 1 --bytes 256KiB'), 'half a minute becomes one round'),
        Bound(short + r'.*\bcorruption\b.*--rate \S+', replacing(r'--rate \S+', '--rate 1e-8 --bytes 1MiB'),
              'excluding a small rate takes hours'),
        Bound(short + r'.*\bconformance\b(?!.*(?:--help|--filter|--list|mutants|diff|statement|package|verify))',
              adding('--filter abi.query,abi.exports'),
              'the whole profile takes a minute: the test of the bundle runs it (packaging/checks.sh)'),
        Bound(short + r'.*\bconformance mutants\b(?!.*--(?:list|case))',
              lambda text: before_comment(re.sub(r" --full| --filter '[^']*'", '', text), "--filter 'm40*'"),
              'all mutants take minutes: CI runs them as a test of their own'),
        Bound(short + r'.*\bconformance mutants --case ',
              replacing(r"--case '[^']*'", '--case abi.exports.only_entry_symbol'), 'one case instead of a group'),
        Bound(short + r'.*\bdoctor\b(?!.*(?:--help|--list|--root))',
              lambda text: text.split(' #')[0].rstrip() + '; test $? -le 1 -o $? -eq 3',
              'its verdict is about this machine; what is run here is that it comes to one'),
        Bound(r'hbf conformance statement run\.json > statement\.toml',
              replacing(r'(?s)$', '\nsed -i \'s/= ""/= "Acme"/\' statement.toml'), 'a person fills in the gaps'),
        Bound(r'hbf conformance verify acme\.tar\.gz',
              lambda text: text.split('#')[0].rstrip() + ' > verified.txt; test $? = 1 && grep "not run" verified.txt &&'
              ' ! grep "^ *bad" verified.txt | grep -v "not run"',
              'the run above was a part of the profile: that is refused, and for nothing else'),
    ]


ELSEWHERE = [
    Elsewhere(r'^\./dev test --sanitize=address', '.ci/run', './dev test --sanitize=address', 'a step of CI'),
    Elsewhere(r'^\./dev test --sanitize=thread', '.ci/run', './dev test --sanitize=thread', 'a step of CI'),
    Elsewhere(r'^\./dev test --arch=aarch64', '.ci/run', './dev test --arch=aarch64', 'a step of CI'),
    Elsewhere(r'^\./dev test(?: [a-z]\w*)?(?: +#|$)', '.ci/run', "step 'tests' 40 ./dev test",
              'a step of CI: all tests, this one among them'),
    Elsewhere(r'^\./dev lint', '.ci/run', './dev lint', 'a step of CI'),
    Elsewhere(r'^\./dev fmt', '.ci/run', './dev lint', 'it changes the sources; the lint step fails where it was not run'),
    Elsewhere(r'^\./dev docs', '.ci/run', './dev docs', 'a step of CI'),
    Elsewhere(r'^\./dev bundle', '.ci/run', './dev bundle', 'a step of CI'),
    Elsewhere(r'^(?:sha256sum -c|tar -xzf) hbf-\S+|^hbf-\S+/bin/hbf ', 'packaging/bundle/bundle_test.sh', 'tar -xzf',
              'with the bundle that CI makes'),
    Elsewhere(r'^\./dev deb --test=debootstrap', 'packaging/debian/deb_test.sh', 'debootstrap --variant=minbase',
              'by hand, where a mirror can be reached: the same test as CI makes here, in a fresh system'),
    Elsewhere(r'^tools/engine_campaign\.sh', 'conformance/engine/meson.build', "test('engine under faults'",
              'the same campaign for seconds; an hour of it by hand'),
    Elsewhere(r'^\./dev deb', '.ci/run', './dev deb', 'a step of CI'),
    Elsewhere(r'^sudo apt (?:install|purge) ', 'packaging/debian/deb_test.sh', 'apt-get install',
              'in a copy-on-write view of a system'),
    Elsewhere(r'^\./dev packages', '.ci/run', './dev packages', 'a step of CI'),
    Elsewhere(r'^\./dev --no-install demo', 'tools/dev/dev_test.sh', './dev --no-install demo', 'without the packages'),
    Elsewhere(r'^\./dev bench', 'bench/meson.build', "test('", 'its rows need a quiet machine; how one is judged is tested'),
    Elsewhere(r'meson install -C build(?: |$)', 'packaging/install_test.sh', 'meson install -C', 'into an empty folder'),
    Elsewhere(r'^c\+\+ -std=c\+\+20 program\.cpp \$\(pkg-config --cflags --libs hbf\)', 'packaging/install_test.sh',
              '--cflags --libs hbf)', 'against an installation in an empty folder'),
]


# Documents that a test of their own follows to the letter: (file, text in it, what it does).
FOLLOWED = {
    'docs/plugin-author-guide.md': ('packaging/meson.build', 'guide_test.py',
                                    'plugins/sdk/tests/guide_test.py runs every block, in a folder without these sources'),
    'plugins/sdk/template/README.md': ('plugins/sdk/tests/guide_test.py', 'follow_the_readme',
                                       'in the project that the guide makes'),
}


def demo_commands(script):
    """What ./dev demo runs once everything is built."""
    body = re.search(r'^demo\(\) \{\n(.*?)^\}', script, re.MULTILINE | re.DOTALL)
    found = re.findall(r'^\s+(build/tools/hbf [^|&\n]+?)(?: \|\| .*)?$', body[1] if body else '', re.MULTILINE)
    if len(found) < 3:
        raise ValueError('./dev demo: its commands were not found in the script')
    return found


def first_word(text):
    for word in text.split():
        if not re.match(r'[A-Za-z_]+=', word) and word not in ('sudo', '('):
            return word
    return ''


def decide(text, build):
    """('run', text, reasons) or ('elsewhere', rule, []) or ('unknown', '', [])."""
    plain = text.strip()
    for rule in ELSEWHERE:
        if re.search(rule.pattern, plain):
            return 'elsewhere', rule, []
    reasons = []
    for bound in bounds(build):
        if re.search(bound.pattern, plain, re.DOTALL):
            changed = bound.edit(plain)
            if changed != plain:
                reasons.append(bound.reason)
            plain = changed
    return ('run', plain, reasons) if first_word(plain) in RUN else ('unknown', '', [])
