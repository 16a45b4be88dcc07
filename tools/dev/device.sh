# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev device: what a bare machine with accelerators is brought, and what is run there.

device_usage() {
    cat <<'END_OF_USAGE'
Usage: ./dev device [--emulate=MACHINE] [--no-run] [device_check.sh's arguments]

Makes the bundle (./dev bundle), puts tools/device_check.sh into it as build/hbf-device-VERSION-linux-ARCH.tar.gz, and,
where this machine has an accelerator that hbf can use, runs it here. Elsewhere: copy that file there, unpack it, and run
./device_check.sh. The bundle has the vendors' plugins, and their emulated runtimes for --emulate.

  --emulate=MACHINE  run it on an emulated machine instead ('hbf emulate --list'); the report says so
  --no-run           only make the file

Exit code: that of device_check.sh (its --help); 77 where there is nothing to run it on.
END_OF_USAGE
}

dev_device() {
    local run=1 machine='' name made stage code=0 arguments=()
    while (($#)); do
        case $1 in
            --emulate=?*) machine=${1#*=} ;;
            --no-run) run=0 ;;
            --no-install) allow_install=0 ;;
            -h | --help) device_usage && return ;;
            --hbf) fail "$exit_usage" '--hbf is for device_check.sh alone: this one runs what it packed' ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
    dev_bundle
    name=hbf-$(project_version)-linux-$(uname -m)
    made=$root/build/hbf-device-${name#hbf-}.tar.gz
    stage=$root/build-bundle/device
    rm -rf -- "$stage"
    mkdir -p "$stage"
    tar -xzf "build/$name.tar.gz" -C "$stage"
    install -m 755 tools/device_check.sh "$stage/$name/device_check.sh"
    pack "$stage" "$name" "$made"
    note "$made: unpack it on the machine and run ./device_check.sh there"
    ((run)) || return 0
    if [[ -n $machine ]]; then
        "$stage/$name/bin/hbf" emulate "$machine" -- "$stage/$name/device_check.sh" "${arguments[@]}" || code=$?
    else
        "$stage/$name/device_check.sh" "${arguments[@]}" || code=$?
    fi
    return "$code"
}
