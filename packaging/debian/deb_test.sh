#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages, installed, used, removed and purged. The last line is "N passed, N failed".
#
#   deb_test.sh [--debootstrap | --root=FOLDER] FOLDER_OF_PACKAGES
#
#   (neither)      in a copy-on-write view of this system, which has what the packages need: seconds, no network
#   --root=FOLDER  in such a view of another Debian system, one unpacked below FOLDER; what it lacks, its apt installs
#   --debootstrap  the same of the smallest system that debootstrap makes, from this system's mirror
#
# Exit code: 0 passed, 1 failed, 2 wrong usage, 77 cannot be tested here, with the reason.
# shellcheck disable=SC2317 # checks are called by name
set -uo pipefail

lower=/ make_root=0 debs=''
for word; do
    case $word in
        --debootstrap) make_root=1 ;;
        --root=/*) lower=${word#*=} ;;
        -*) debs='' && break ;;
        *) debs=$word ;;
    esac
done
if [[ -z $debs ]] || ! compgen -G "$debs/*.deb" >/dev/null; then
    sed -n '3,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/checks.sh
source "$here/../checks.sh"
cannot() { printf 'skipped: %s\n' "$*" && exit 77; }

((EUID == 0)) || cannot 'packages are installed by root, and this is another user'
for tool in unshare chroot dpkg mount; do
    command -v "$tool" >/dev/null || cannot "there is no $tool here"
done

# In a namespace of mounts of its own: whatever happens, nothing of this stays mounted.
if [[ -z ${HBF_DEB_TEST_INSIDE:-} ]]; then
    unshare --mount true 2>/dev/null || cannot 'no namespace of mounts can be made here'
    HBF_DEB_TEST_INSIDE=1 exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi

work=$(mktemp -d)
# Never rm -r here: this system's /dev and /sys are mounted below.
trap 'umount --recursive --lazy "$work" 2>/dev/null; rmdir "$work" 2>/dev/null' EXIT
mount -t tmpfs tmpfs "$work" || cannot 'no tmpfs can be mounted here'
if ((make_root)); then
    command -v debootstrap >/dev/null || cannot 'there is no debootstrap here'
    # shellcheck disable=SC1091
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debootstrap --variant=minbase "$release" "$work/lower" >"$work/log" 2>&1 ||
        cannot "debootstrap: $(tail -n 1 "$work/log")"
    # The mirror and the way to it are those of this system.
    cp -r /etc/apt/. "$work/lower/etc/apt/"
    cp /etc/resolv.conf /etc/hosts "$work/lower/etc/"
    lower=$work/lower
    [[ ! -d /etc/ssl/certs ]] || cp -r /etc/ssl "$lower/etc/"
    [[ ! -d /usr/local/share/ca-certificates ]] || cp -r /usr/local/share/ca-certificates "$lower/usr/local/share/"
    [[ ! -d /usr/share/ca-certificates ]] || cp -r /usr/share/ca-certificates "$lower/usr/share/"
fi
mkdir "$work"/{upper,layers,root}
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/layers" "$work/root" 2>"$work/log" ||
    cannot "no copy-on-write view of $lower can be mounted: $(tail -n 1 "$work/log")"
root=$work/root
if ! { mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
    mount -t tmpfs tmpfs "$root/tmp" && chmod 1777 "$root/tmp"; }; then
    cannot 'its /proc, /sys, /dev and /tmp cannot be mounted'
fi
# What this system's owner installed by hand is not looked at.
[[ $lower != / ]] || mount -t tmpfs tmpfs "$root/usr/local"
mkdir "$root/tmp/debs" "$root/tmp/plugin"
cp "$debs"/*.deb "$root/tmp/debs/"
cp "$here/../consumer.cpp" "$here/../plugin_in_c.c" "$root/tmp/"

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    chroot "$root" bash -c "$1"; }
as_user() { inside "cd /tmp && setpriv --reuid=$other --regid=$other --clear-groups env -i $1"; }

install() {
    if [[ $lower == / ]]; then
        inside 'dpkg --install /tmp/debs/*.deb'
    else
        # meson and the compiler are for the plugin that is built below.
        inside 'apt-get update -q && apt-get install -q -y --no-install-recommends /tmp/debs/*.deb g++ meson pkg-config'
    fi
}
packages=$(for deb in "$debs"/*.deb; do dpkg-deb --field "$deb" Package; done | tr '\n' ' ')
installed() { # every one, wholly
    local package
    for package in $packages; do
        says 'install ok installed' inside "dpkg-query -W -f='\${Status}\n' $package" || return
    done
}
# Files of the packages; folders may belong to others too.
files() {
    inside "dpkg-query -L $packages" | sort -u | while IFS= read -r file; do
        if [[ -f $root$file || -L $root$file ]]; then printf '%s\n' "$file"; fi
    done
}
none_left() { # of what was there before; and what the layer above has must be dpkg's own
    local file left=0
    while IFS= read -r file; do
        [[ ! -e $root$file ]] || { echo "still there: $file" && left=1; }
    done <"$work/files"
    [[ $lower != / ]] || while IFS= read -r file; do
        echo "left behind: $file" && left=1
    done < <(cd "$work/upper" && find . ! -type d |
        grep -vE '^\./(var/lib/dpkg|var/log|var/cache|etc/ld\.so\.cache|tmp|root)(/|$)')
    ((left == 0))
}
forgotten() { ! inside "dpkg-query -W -f='\${Status}\n' $packages 2>/dev/null" | grep -v 'unknown ok not-installed'; }
# shellcheck disable=SC2016 # the shell inside expands them
compiled() { # the flags of the packages' own pkg-config files, and no other search path
    inside 'cd /tmp && g++ -std=c++20 consumer.cpp $(pkg-config --cflags --libs hbf) -o consumer' &&
        says ' tiers' as_user /tmp/consumer
}
# shellcheck disable=SC2016
in_c() {
    inside 'cd /tmp && gcc -std=c11 -shared -fPIC plugin_in_c.c $(pkg-config --cflags --libs hbf-plugin-sdk) -o in_c.so' &&
        python3 "$here/../../plugins/sdk/tests/plugin_file.py" "$root/tmp/in_c.so"
}
plugin() {
    inside 'cd /tmp/plugin && hbf plugin new mine && cd mine && meson setup build && ninja -C build' &&
        says 'HBF ready: mine' as_user 'HBF_PLUGIN_PATH=/tmp/plugin/mine/build hbf probe'
}

passes "installed: $packages" install
passes 'all of them are configured' installed
files >"$work/files"
passes 'hbf probe chooses a plugin' says 'HBF ready: host' as_user '/usr/bin/hbf probe'
passes 'the plugin is that of the package' says '/hbf/plugins/hbf_plugin_host.so' as_user '/usr/bin/hbf probe --json'
for machine in "${emulated[@]}"; do
    passes "hbf probe chooses ${machine#*=} on an emulated ${machine%=*}" says "HBF ready: ${machine#*=} " \
        as_user "/usr/bin/hbf emulate ${machine%=*} -- /usr/bin/hbf probe"
done
# Here it is about the packages; the memory model of this processor, the slowest group, is asked in a fresh system only.
[[ $lower != / ]] || suite+=(--skip 'coherence.litmus.*')
passes 'the host plugin is conformant' says 'CONFORMANT: ' as_user "/usr/bin/hbf ${suite[*]@Q}"
passes 'a program links libhbf' compiled
passes 'a plugin in C is built with the SDK' in_c
if inside 'hbf plugin --help' >/dev/null 2>&1; then
    passes 'a plugin that hbf plugin new writes is built and chosen' plugin
fi
passes 'removed' inside "dpkg --remove $packages"
passes 'purged' inside "dpkg --purge $packages"
passes 'dpkg knows nothing of them' forgotten
passes 'no file is left' none_left

finish
