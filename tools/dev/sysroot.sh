# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The libraries of another architecture, unpacked into a folder of their own: nothing is installed on this machine, so no
# package of the other architecture can disturb the machine's own.

readonly sysroot_packages=(libfmt-dev libspdlog-dev libtomlplusplus-dev libhwloc-dev libnuma-dev liburing-dev libhwy-dev
    libxxhash-dev nettle-dev libarchive-dev libgtest-dev libgmock-dev libexpected-dev nlohmann-json3-dev libcli11-dev)
readonly sysroot_links=(boost) # large, headers only, equal everywhere: taken from /usr/include

# What the cross compiler brings, and tools that are never run.
readonly sysroot_skip='^(libc6|libc-|libcrypt|linux-libc|libstdc|libgcc|gcc-|lib[a-z]*san|perl|libperl|dpkg|tar_|auto|m4)'

sysroot_apt() { # SYSROOT ARGUMENTS...: an apt of its own, with its own lists and an empty machine
    local state=$1/apt
    shift
    DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
        -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "${sysroot_sources[@]}" \
        -o Debug::NoLocking=1 "$@" </dev/null
}

# Ubuntu keeps arm64 on another server than amd64.
sysroot_find_sources() { # SYSROOT
    sysroot_sources=()
    local id codename
    id=$(. /etc/os-release && echo "${ID:-}")
    [[ $id == ubuntu ]] || return 0
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    printf 'deb http://ports.ubuntu.com/ubuntu-ports %s main universe\n' "$codename" "$codename-updates" \
        >"$1/apt/sources.list"
    sysroot_sources=(-o Dir::Etc::sourcelist="$root/$1/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null)
}

make_sysroot() { # SYSROOT
    local sysroot=$1 log deb link target
    [[ -f $sysroot/complete ]] && return 0
    is_debian || fail "$exit_undecided" 'the aarch64 libraries come from Debian or Ubuntu packages; this is neither'
    rm -rf "$sysroot"
    mkdir -p "$sysroot"/apt/{lists,cache/archives}/partial "$sysroot/usr/include"
    : >"$sysroot/apt/status"
    sysroot_find_sources "$sysroot"
    require_space "$sysroot" 600 'the aarch64 libraries'
    say "Unpacking aarch64 libraries into $sysroot"
    log=$(mktemp)
    sysroot_apt "$root/$sysroot" update >"$log" 2>&1 || tail -n 4 "$log" >&2
    sysroot_apt "$root/$sysroot" install -y --download-only --no-install-recommends "${sysroot_packages[@]}" >"$log" 2>&1 ||
        apt_failed "$log" 'downloading the aarch64 libraries'
    rm -f "$log"
    for deb in "$sysroot"/apt/cache/archives/*.deb; do
        [[ ${deb##*/} =~ $sysroot_skip ]] || dpkg-deb -x "$deb" "$sysroot"
    done
    # A link to /usr/lib would lead to this machine's own.
    while IFS= read -r link; do
        target=$(readlink "$link")
        ln -sfn "$root/$sysroot$target" "$link"
    done < <(find "$sysroot/usr" "$sysroot/lib" -type l -lname '/*' 2>/dev/null)
    for link in "${sysroot_links[@]}"; do
        if [[ -e /usr/include/$link ]]; then ln -sfn "/usr/include/$link" "$sysroot/usr/include/$link"; fi
    done
    rm -rf "$sysroot/apt"
    : >"$sysroot/complete"
}
