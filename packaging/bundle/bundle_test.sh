#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A bundle, unpacked where nobody built it and used as others would: by another user with an empty environment; in a root
# that has glibc and no other file; by a compiler, against its headers. The last line is "N passed, N failed, N skipped".
#
#   bundle_test.sh TARBALL      Exit code: 0 passed, 1 failed, 2 wrong usage, 77 nothing could be tested.
# shellcheck disable=SC2317 # checks are called by name
set -uo pipefail

if (($# != 1)) || [[ ! -f $1 ]]; then
    sed -n '3,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
tarball=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
name=$(basename "$tarball" .tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# shellcheck source=packaging/checks.sh
source "$here/../checks.sh"

# Without root's rights it is this user.
as_other=()
((EUID != 0)) || as_other=(setpriv "--reuid=$other" "--regid=$other" --clear-groups)

place="$work/an other/place"
mkdir -p "$place"
((EUID != 0)) || chown -R "$other:$other" "$work/an other"
top=$place/$name
version=${name#hbf-} version=${version%-linux-*}

packed_by_root() { ! tar -tvzf "$tarball" --numeric-owner | awk '{ print $2 }' | grep -vx '0/0'; }
in_one_folder() { ! tar -tzf "$tarball" | grep -vE "^$name/"; }
passes 'its checksum is the one beside it' env -C "$(dirname "$tarball")" sha256sum -c "$tarball.sha256"
passes 'its files belong to root' packed_by_root
passes 'it unpacks into one folder' in_one_folder
passes 'another user can unpack it' "${as_other[@]}" env -C "$place" tar -xzf "$tarball"

# hbf, from a folder that is not the bundle's.
run() { (cd / && "${as_other[@]}" env -i "$top/bin/hbf" "$@"); }
small=(bandwidth --tier dram0 --size 4MiB --samples 6 --warm-up 0.01 --time 30)
floors="$top/share/hbf/profiles/ddr4-1600-one-channel.json"
against_floors() { # a machine may be below them, here it is about the file
    local said code=0
    said=$(run "${small[@]}" --json --profile "$floors") || code=$?
    printf '%s\n' "$said" | tail -n 3
    ((code <= 1)) && grep -qF 'one channel of DDR4-1600' <<<"$said"
}
has() { run --help 2>/dev/null | grep -qE "^ +$1( |$)"; }
looked_at() { # its verdict is about this machine; that it comes to one is what counts
    local code=0
    run doctor || code=$?
    ((code == 0 || code == 1 || code == 3))
}
passes 'hbf --version' says " $version" run --version
passes 'hbf probe chooses a plugin' says 'HBF ready: host' run probe
passes 'the plugin is that of the bundle' says "$top/lib/hbf/plugins/hbf_plugin_host.so" run probe --json
passes 'hbf bandwidth' says 'Measured bandwidth: ' run "${small[@]}"
passes 'hbf bandwidth against floors' against_floors
for machine in "${emulated[@]}"; do
    passes "hbf probe chooses ${machine#*=} on an emulated ${machine%=*}" says "HBF ready: ${machine#*=} " \
        run emulate "${machine%=*}" -- "$top/bin/hbf" probe
done
if has doctor; then passes 'hbf doctor' looked_at; else skip 'hbf doctor' 'this version has none'; fi

# A root of glibc alone.
bare=$work/bare
inside=/opt/h3/$name
bare_root() {
    local file
    mkdir -p "$bare"/{proc,sys,dev,tmp,opt/h3}
    tar -xzf "$tarball" -C "$bare/opt/h3"
    while read -r file; do
        mkdir -p "$bare$(dirname "$file")"
        cp -L "$file" "$bare$file"
    done < <(ldd "$bare$inside/bin/hbf" | grep -oE '/[^ ]+' | grep -vF "$work")
    : >"$bare/dev/null"
    : >"$bare/dev/urandom"
    chmod 1777 "$bare/tmp"
}
if ((EUID == 0)); then
    new=(unshare --mount --pid --fork --kill-child) user=(--userspec="$other:$other" --groups=)
else
    new=(unshare --user --map-root-user --mount --pid --fork --kill-child) user=()
fi
# The mounts are those of the new namespace and go with it.
# shellcheck disable=SC2016 # that shell expands them
enter() {
    "${new[@]}" bash -c '
        root=$1; shift
        mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --bind /dev/null "$root/dev/null" &&
            mount --bind /dev/urandom "$root/dev/urandom" && mount -t tmpfs tmpfs "$root/tmp" || exit 125
        exec env -i "$(command -v chroot)" "$@"' - "$bare" "${user[@]}" "$bare" "$inside/bin/hbf" "$@"
}
nothing_else() {
    ! find "$bare" -path "$bare/opt" -prune -o -type f -print | grep -vE '/(ld-linux-[^/]*|lib[cm])\.so\.[0-9]+$|/dev/'
}

bare_root
enter --version >"$work/said" 2>&1
if (($? == 125)); then
    why="no new root can be made here: $(tail -n 1 "$work/said")"
    for what in 'hbf probe' 'hbf bandwidth'; do skip "$what in a root of glibc alone" "$why"; done
    passes 'the host plugin is conformant' says 'CONFORMANT: ' run "${suite[@]}"
else
    passes 'there is a root of glibc alone' nothing_else
    passes 'hbf probe in a root of glibc alone' says 'HBF ready: host' enter probe
    passes 'hbf bandwidth in a root of glibc alone' says 'Measured bandwidth: ' enter "${small[@]}"
    for machine in "${emulated[@]}"; do
        passes "an emulated ${machine%=*} in a root of glibc alone" says "HBF ready: ${machine#*=} " \
            enter emulate "${machine%=*}" -- "$inside/bin/hbf" probe
    done
    passes 'the host plugin is conformant in a root of glibc alone' says 'CONFORMANT: ' enter "${suite[@]}"
fi

# Built against it. The program has the machine's libstdc++, the library its own: what passes between them must fit.
# pkg-config cannot name a linker script in a folder with a blank in its name, so here it is the other copy.
sdk=$bare$inside
export PKG_CONFIG_LIBDIR=$sdk/lib/pkgconfig
# Flags and CC, CXX (ccache g++) are several words.
# shellcheck disable=SC2046,SC2086
program() {
    ${CXX:-c++} -std=c++20 -Wall -Wextra -Werror "$here/../consumer.cpp" $(pkg-config --cflags --libs hbf) \
        "-Wl,-rpath,$sdk/lib" -o "$work/consumer" && says ' tiers' "${as_other[@]}" env -i "$work/consumer"
}
# shellcheck disable=SC2046,SC2086
in_c() {
    ${CC:-cc} -std=c11 -shared -fPIC "$here/../plugin_in_c.c" $(pkg-config --cflags --libs hbf-plugin-sdk) \
        -o "$work/in_c.so" && python3 "$here/../../plugins/sdk/tests/plugin_file.py" "$work/in_c.so"
}
# From what hbf plugin new writes to a plugin that is chosen, with nothing of the sources.
plugin() {
    mkdir "$work/author" && cd "$work/author" && env -i "$sdk/bin/hbf" plugin new mine &&
        PATH="$sdk/bin:$PATH" meson setup mine/build mine && ninja -C mine/build &&
        says 'HBF ready: mine' env -i "HBF_PLUGIN_PATH=$work/author/mine/build" "$sdk/bin/hbf" probe
}
cxx=${CXX:-c++}
if command -v "${cxx%% *}" >/dev/null && command -v pkg-config >/dev/null; then
    passes 'a program links its libhbf' program
    passes 'a plugin in C is built with its SDK' in_c
    if has plugin && command -v meson >/dev/null; then
        passes 'a plugin that hbf plugin new writes is built and chosen' plugin
    else
        skip 'a plugin that hbf plugin new writes' 'there is no such command, or no meson here'
    fi
else
    skip 'building against it' 'no C++ compiler or no pkg-config here'
fi

finish
