# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --arch=aarch64: compiled by the cross compiler, run by qemu-user.

readonly cross_folder=build-aarch64

# What has to run on every architecture. The tools are compiled from the same sources on top of these.
readonly cross_suites=core,host,kernels,sdk

# Names of this machine's folders and tools, added to tools/cross/aarch64-linux-gnu.ini.
cross_local_file() {
    local cache=''
    if have ccache; then cache="'ccache', "; fi
    cat <<END
[constants]
sysroot = '$root/$cross_folder/sysroot'
[binaries]
c = [${cache}'aarch64-linux-gnu-gcc']
cpp = [${cache}'aarch64-linux-gnu-g++']
END
}

configure_cross() {
    if [[ -f $cross_folder/build.ninja ]]; then
        configure "$cross_folder" '' '' # again, if a meson.build changed
        return
    fi
    require_space . "$build_space_mib" 'a build'
    cross_local_file >"$cross_folder/local.ini"
    say "Configuring $cross_folder"
    env -u CC -u CXX meson setup "$cross_folder" --cross-file tools/cross/aarch64-linux-gnu.ini \
        --cross-file "$cross_folder/local.ini" -Doptimization=1 -Db_pch=false >"$cross_folder/configure.log" 2>&1 || {
        tail -n 15 "$cross_folder/configure.log" >&2
        fail "$exit_undecided" "meson could not configure $cross_folder" \
            "its whole log is $cross_folder/meson-logs/meson-log.txt"
    }
}

cross_test() { # FILTER
    need build test cross
    make_sysroot "$cross_folder/sysroot"
    configure_cross
    say "Testing in $cross_folder (aarch64 under qemu-user)"
    tools/dev/run_tests.py "$cross_folder" --filter "$1" --suite "${suite:-$cross_suites}" --timeout-multiplier 6 \
        --skip-cases tools/cross/qemu-skip.txt
}
