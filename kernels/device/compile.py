# SPDX-License-Identifier: Apache-2.0
"""Compiles the device kernels for one target, or tries every compiler that this machine has.

One image holds all kernels of the table, each under its function's name. The compilers are those on PATH, unless NVCC,
CLANG (for AMD; its lld beside it), SPIRV_CLANG and LLVM_SPIRV name others.
"""
import argparse
import ctypes
import os
import re
import pathlib
import shutil
import subprocess
import sys
import tempfile

import embed

STRICT = ['-Wall', '-Wextra', '-Werror']
CUDA = ['sm_80', 'sm_90']
AMD = ['gfx90a', 'gfx942']


class Absent(Exception):
    """No compiler for this target here."""


class Failed(Exception):
    """The compiler refused, or what it wrote is not what was asked for."""


def tool(variable: str, *names: str) -> str:
    wanted = os.environ.get(variable)
    for name in [wanted] if wanted else names:
        if path := shutil.which(name):
            return path
    raise Absent(f'{wanted} (from {variable}) is no program' if wanted else f'no {" or ".join(names)}')


def run(*command: str) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        raise Failed(f'{command[0]}: {error.strerror}') from error
    if done.returncode != 0:
        raise Failed(' '.join(command) + '\n' + done.stdout)
    return done.stdout


def nvcc() -> list[str]:
    return [tool('NVCC', 'nvcc', '/usr/local/cuda/bin/nvcc')]


def amd_clang() -> list[str]:
    clang = tool('CLANG', 'clang-19', 'clang')
    if major(clang) < 17:
        raise Absent(f'{clang} is older than 17, the first that knows gfx942')
    # An older one knows neither its options nor its targets.
    beside = shutil.which('ld.lld', path=os.path.dirname(os.path.realpath(clang)))
    found = (shutil.which(f'ld.lld-{major(clang)}'), beside, shutil.which('ld.lld'))
    lld = next((one for one in found if one and lld_major(one) >= major(clang)), None)
    if not lld:
        raise Absent(f'no ld.lld for {clang}')
    return [clang, f'--ld-path={lld}']


def major(clang: str) -> int:
    return int(run(clang, '-dumpversion').split('.', maxsplit=1)[0])


def lld_major(lld: str) -> int:
    return int(re.search(r'LLD (\d+)', run(lld, '--version'))[1])


def spirv_tools() -> list[str]:
    return [tool('SPIRV_CLANG', 'clang-15'), tool('LLVM_SPIRV', 'llvm-spirv-15')]


def tools_for(target: str) -> list[str]:
    for beginning, find in {'sm_': nvcc, 'gfx': amd_clang, 'spirv': spirv_tools}.items():
        if target.startswith(beginning):
            return find()
    raise Failed('not a target: sm_NN, gfxNNN or spirv')


class Kernels:
    """The sources, as compilers want them."""

    def __init__(self, table: pathlib.Path):
        self.folder = table.resolve().parent
        self.lines = embed.kernels(table)
        self.names = [line.name for line in self.lines]

    def all(self) -> str:
        seen: set[pathlib.Path] = set()
        return '\n'.join(line for name in self.names for line in embed.flatten(self.folder / f'{name}.h', seen)) + '\n'

    def one(self, name: str) -> str:
        return '\n'.join(embed.flatten(self.folder / f'{name}.h', set())) + '\n'


def image(target: str, kernels: Kernels, output: pathlib.Path) -> None:
    """Writes the image for a target: a cubin, an AMD code object, or SPIR-V."""
    tools = tools_for(target)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'kernels'
        if target.startswith('sm_'):
            source = source.with_suffix('.cu')
            source.write_text(kernels.all())
            run(*tools, '-cubin', f'-arch={target}', '-std=c++17', '-fmad=false', '-Werror', 'all-warnings',
                '-o', str(output), str(source))
        elif target.startswith('gfx'):
            source = source.with_suffix('.hip')
            source.write_text(kernels.all())
            run(*tools, '-x', 'hip', f'--offload-arch={target}', '--offload-device-only', '--no-gpu-bundle-output',
                '-nogpulib', '-nogpuinc', '-O3', '-ffp-contract=off', *STRICT, '-o', str(output), str(source))
        else:
            clang, translator = tools
            source = source.with_suffix('.cl')
            source.write_text(kernels.all())
            bitcode = source.with_suffix('.bc')
            # LLVM's passes make integers of odd widths, which SPIR-V does not have; the driver optimises.
            run(clang, '-x', 'cl', '-cl-std=CL3.0', '-target', 'spir64', '-O2', '-Xclang', '-disable-llvm-passes',
                '-ffp-contract=off', *STRICT, '-emit-llvm', '-c', '-o', str(bitcode), str(source))
            run(translator, '--spirv-max-version=1.2', str(bitcode), '-o', str(output))
    verify(target, kernels, output.read_bytes())


def write_array(target: str, content: bytes, output: pathlib.Path) -> None:
    """An image as C++, to be included."""
    rows = [', '.join(map(str, content[at:at + 32])) for at in range(0, len(content), 32)]
    output.write_text(f'alignas(64) constexpr unsigned char image_{target}[] = {{\n' + ',\n'.join(rows) + '};\n')


def verify(target: str, kernels: Kernels, content: bytes) -> None:
    magic = b'\x03\x02\x23\x07' if target == 'spirv' else b'\x7fELF'
    if not content.startswith(magic):
        raise Failed('the compiler wrote something else than an image')
    for name in kernels.names:
        entry = {'sm': f'.text.{name}\0', 'gf': f'\0{name}.kd\0', 'sp': f'{name}\0'}[target[:2]]
        if entry.encode() not in content:
            raise Failed(f'no kernel {name} in the image')


def check_image(target: str, kernels: Kernels) -> str:
    tools = tools_for(target)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / 'image'
        image(target, kernels, output)
        return f'{output.stat().st_size} bytes by {" and ".join(os.path.basename(path) for path in tools)}'


def check_nvrtc(kernels: Kernels) -> str:
    """As the CUDA plugin does it at run time."""
    for name in ['libnvrtc.so.13', 'libnvrtc.so.12', '/usr/local/cuda/lib64/libnvrtc.so']:
        try:
            nvrtc = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise Absent('no libnvrtc')
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), kernels.all().encode(), b'kernels.cu', 0, None, None) != 0:
        raise Failed('nvrtcCreateProgram')
    options = [b'--gpu-architecture=compute_80', b'-fmad=false']
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise Failed(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    for name in kernels.names:
        if f'.entry {name}('.encode() not in ptx.value:
            raise Failed(f'no kernel {name} in the PTX')
    return f'PTX by {name_of(nvrtc)}'


def name_of(nvrtc: ctypes.CDLL) -> str:
    numbers = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(numbers[0]), ctypes.byref(numbers[1]))
    return f'NVRTC {numbers[0].value}.{numbers[1].value}'


def check_opencl(kernels: Kernels) -> str:
    """Each alone, so that its text is whole; in the oldest version that it says it needs."""
    clang = tool('OPENCL_CLANG', 'clang-19', 'clang-15', 'clang')
    with tempfile.TemporaryDirectory() as folder:
        for line in kernels.lines:
            source = pathlib.Path(folder) / f'{line.name}.cl'
            source.write_text(kernels.one(line.name))
            version = 'CL3.0' if 'needs_c11_atomics' in line.needs else 'CL1.2'
            run(clang, '-x', 'cl', f'-cl-std={version}', '-target', 'spir64-unknown-unknown', '-fsyntax-only', *STRICT,
                str(source))
    return f'each by {os.path.basename(clang)}'


def check_host(names: list[str], kernels: Kernels) -> str:
    compiler = tool('', *names)
    with tempfile.TemporaryDirectory() as folder:
        for name in kernels.names:
            source = pathlib.Path(folder) / f'{name}.cpp'
            source.write_text(f'#include "kernels/device/{name}.h"\nnamespace d = hbf::kernels::device;\n'
                              f'auto entry = &d::{name}_twin::run;\n')
            run(compiler, '-std=c++20', '-fsyntax-only', *STRICT, '-Wpedantic', '-Wshadow', '-Wundef',
                '-I', str(kernels.folder.parent.parent), str(source))
    return f'each by {os.path.basename(compiler)}'


def check(table: pathlib.Path) -> int:
    kernels = Kernels(table)
    checks = {target: lambda target=target: check_image(target, kernels) for target in [*CUDA, *AMD, 'spirv']}
    checks['CUDA at run time'] = lambda: check_nvrtc(kernels)
    checks['OpenCL C'] = lambda: check_opencl(kernels)
    checks['host, g++'] = lambda: check_host(['g++'], kernels)
    checks['host, clang++'] = lambda: check_host(['clang++-19', 'clang++'], kernels)
    failed, absent = [], []
    for name, one in checks.items():
        try:
            print(f'{name}: {len(kernels.names)} kernels, {one()}', flush=True)
        except Absent as reason:
            absent.append(f'{name} ({reason})')
        except Failed as reason:
            failed.append(name)
            print(f'{name}: FAILED\n{reason}', flush=True)
    if absent:
        print(f'not tried: {"; ".join(absent)}')
    if failed:
        print(f'failed: {", ".join(failed)}')
        return 1
    return 77 if len(absent) == len(checks) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('table', type=pathlib.Path, help='kernels/device/table.inc')
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--check', action='store_true', help='try every compiler; 0 all do, 1 one does not, 77 there is none')
    what.add_argument('--target', help='sm_80, sm_90, gfx90a, gfx942, ..., or spirv')
    parser.add_argument('--output', type=pathlib.Path, help='with --target: the image; without: only look for the compiler')
    parser.add_argument('--array', action='store_true', help='write it as an array of C++, to be included')
    parser.add_argument('--depfile', type=pathlib.Path, help='for ninja: the files that were read')
    options = parser.parse_args()
    try:
        if options.check:
            return check(options.table)
        if options.output:
            kernels = Kernels(options.table)
            with tempfile.TemporaryDirectory() as folder:
                made = pathlib.Path(folder) / 'image'
                image(options.target, kernels, made)
                if options.array:
                    write_array(options.target, made.read_bytes(), options.output)
                else:
                    shutil.copyfile(made, options.output)
            if options.depfile:
                embed.write_depfile(options.depfile, options.output, kernels.folder.glob('*.h'))
        else:
            tools_for(options.target)
    except (Absent, Failed, embed.Mistake) as reason:
        print(f'{options.target or options.table}: {reason}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
