#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/plugin-author-guide.md, followed to the letter: every `sh` block, in one shell, in a folder without HBF's sources,
against an installation that was unpacked from a tarball. Then the plugin that came of it meets a core two minor versions
newer, and one built with headers two minors newer meets today's core.

  guide_test.py BUILD_FOLDER SOURCE_FOLDER PREFIX NEWER_CORE      (CC and CXX in the environment)
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```sh\n(.*?)^```', re.M | re.S)


def run(command, folder, env=None, code=0, shown=True):
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, errors='replace', check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != code:
        sys.exit(f'{command} ended with {done.returncode}, not {code}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}')
    if shown:
        print(done.stdout)
    return done.stdout


def relocatable(folder):
    """As ./dev bundle makes its .pc files: the prefix is found from where they lie."""
    for file in folder.rglob('*.pc'):
        up = '/..' * (len(file.relative_to(folder).parts) - 1)
        file.write_text(re.sub(r'^prefix=.*$', 'prefix=${pcfiledir}' + up, file.read_text(), flags=re.M))


def make_tarball(build, prefix, work):
    """What the guide unpacks: this build, installed."""
    stage = work / 'stage'
    run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', stage], work, shown=False)
    top = work / 'hbf-test'
    shutil.move(str(stage) + prefix, top)
    relocatable(top)
    run(['tar', '-czf', work / 'author' / 'hbf-test.tar.gz', '-C', work, 'hbf-test'], work, shown=False)
    return top


def follow_the_guide(source, work, env):
    blocks = BLOCK.findall((source / 'docs' / 'plugin-author-guide.md').read_text(encoding='utf-8'))
    if len(blocks) < 10:
        sys.exit(f'the guide has {len(blocks)} sh blocks')
    script = 'set -euo pipefail\n' + ''.join(f'echo "--- block {n}" >&2\nset -x\n{block}{{ set +x; }} 2>/dev/null\n'
                                             for n, block in enumerate(blocks, 1))
    (work / 'guide.sh').write_text(script)
    run(['bash', work / 'guide.sh'], work / 'author', env)
    report = json.loads((work / 'author/acme/build-ci/tests/conformance.json').read_text())
    if report['verdict'] != 'conformant' or report['plugin']['name'] != 'acme' or report['profile'] != 'quick':
        sys.exit(f'the suite ran on {report["plugin"]}: {report["verdict"]}')
    print(f'{len(blocks)} blocks; {len(report["cases"])} cases: {report["verdict"]}')


def follow_the_readme(work, env):
    """README.md of the new project. The whole suite has run by then, so that here its tests are only listed."""
    text = (work / 'author/acme/README.md').read_text(encoding='utf-8')
    commands = re.search(r'^```\n(.*?)^```', text, re.M | re.S)[1]
    commands = commands.replace('meson test -C build ', 'meson test -C build --list ')
    if commands.count('\n') != 5 or '--list' not in commands or './ci.sh ' not in commands:
        sys.exit(f'README.md of the new project has other commands than are expected here:\n{commands}')
    commands = commands.replace('meson setup build\n', 'meson setup --reconfigure build\n')
    commands = commands.replace('./ci.sh ', 'test -x ./ci.sh ')
    hbf = work / 'author/hbf'
    pc, = hbf.rglob('hbf-plugin-sdk.pc')
    run(['bash', '-euc', commands], work / 'author/acme',
        env | {'PATH': f'{hbf}/bin:{env["PATH"]}', 'PKG_CONFIG_PATH': str(pc.parent), 'DESTDIR': str(work / 'readme')})
    if not list((work / 'readme').rglob('acme.plugin.toml')):
        sys.exit('meson install put no manifest in place')


def meet_a_newer_core(newer_core, work, env):
    run([newer_core], work, env | {'HBF_SDK_TEMPLATE': str(work / 'author/acme/build/hbf_plugin_acme.so')})


def meet_an_older_core(source, top, work, env):
    """Headers two minors on, in a copy of the installation's own; the hbf command stays today's."""
    later = work / 'later'
    shutil.copytree(top, later, symlinks=True)
    abi = 'include/hbf/abi'
    run([sys.executable, source / 'plugins/sdk/tests/later_headers.py', top / abi, later / abi], work)
    pc, = later.rglob('hbf-plugin-sdk.pc')
    text = pc.read_text()
    pc.write_text(re.sub(r'^abi_version=(\d+)\.(\d+)$', lambda m: f'abi_version={m[1]}.{int(m[2]) + 2}', text, flags=re.M))
    env = env | {'PKG_CONFIG_PATH': str(pc.parent), 'PATH': f'{work}/author/hbf/bin:{env["PATH"]}'}
    hbf = work / 'author/hbf/bin/hbf'
    acme = work / 'author/acme'
    run(['meson', 'setup', '-Dwerror=false', 'build-later'], acme, env, shown=False)
    run(['meson', 'compile', '-C', 'build-later'], acme, env, shown=False)
    if 'abi_max = "0.3"' not in (acme / 'build-later/acme.plugin.toml').read_text():
        sys.exit('the manifest does not say what headers it was built with')
    plugin = acme / 'build-later/hbf_plugin_acme.so'
    said = run([hbf, 'plugin', 'check', plugin], work, env)
    if 'answers this core with ABI 0.1, the manifest says 0.1 to 0.3' not in said:
        sys.exit('a plugin of newer headers does not answer this core with its own version')
    run([hbf, 'conformance', '--plugin', plugin, '--option', 'mebibytes=32', '--filter', 'abi,dma.batch,tier.alloc'], work,
        env)

    # One that cannot do without what is newer says so, and is refused with the reason: by its manifest, then by its library.
    manifest = acme / 'build-later/acme.plugin.toml'
    text = manifest.read_text()
    manifest.write_text(text.replace('abi_min = "0.1"', 'abi_min = "0.3"'))
    needs_newer(hbf, plugin, work, env, 'its manifest asks for ABI 0.3')
    manifest.write_text(text)
    code = acme / 'src/plugin.cpp'
    code.write_text(code.read_text().replace('.description = "one memory tier"',
                                             '.description = "one memory tier", .abi_min = HBF_ABI_MAKE(0, 3)'))
    run(['meson', 'compile', '-C', 'build-later'], acme, env, shown=False)
    needs_newer(hbf, plugin, work, env, 'it was built for ABI 0.3, this host serves 0.1 to 0.1')


def needs_newer(hbf, plugin, work, env, why):
    env = env | {'HBF_PLUGIN_PATH': str(plugin.parent)}
    said = run([hbf, 'probe', '--explain', '--json'], work, env, code=1, shown=False)
    candidate, = (one for one in json.loads(said)['candidates'] if one['name'] == 'acme')
    if candidate['reason'] != 'abi_too_new' or why not in candidate['detail']:
        sys.exit(f'refused as {candidate["reason"]}: {candidate["detail"]}, not as abi_too_new: {why}')
    print(f'refused: {candidate["detail"]}')


def compiler_cache(work):
    """Where there is one, it finds what it compiled in an earlier run, though each has a folder of its own."""
    if not shutil.which('ccache'):
        return {}
    kept = subprocess.run(['ccache', '--get-config=cache_dir'], capture_output=True, text=True, check=True).stdout.strip()
    return {'CCACHE_DIR': kept, 'CCACHE_BASEDIR': str(work), 'CCACHE_NOHASHDIR': '1'}


def main():
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    build, source, newer_core = (os.path.abspath(sys.argv[n]) for n in (1, 2, 4))
    prefix = sys.argv[3]
    with tempfile.TemporaryDirectory(prefix='hbf-guide-') as folder:
        work = pathlib.Path(folder)
        (work / 'author').mkdir()
        (work / 'home').mkdir()
        env = {name: os.environ[name] for name in ('PATH', 'CC', 'CXX', 'CCACHE_DIR', 'LANG') if name in os.environ}
        env |= compiler_cache(work)
        env |= {'HOME': str(work / 'home'), 'XDG_CACHE_HOME': str(work / 'home'), 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8'}
        top = make_tarball(build, prefix, work)
        follow_the_guide(pathlib.Path(source), work, env)
        follow_the_readme(work, env)
        meet_a_newer_core(newer_core, work, env)
        meet_an_older_core(pathlib.Path(source), top, work, env)
    return 0


if __name__ == '__main__':
    sys.exit(main())
