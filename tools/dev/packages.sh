# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Finds and installs what a command needs from the distribution. The list itself is packages.txt.

readonly package_list=tools/dev/packages.txt
allow_install=1 # 0 after --no-install
apt_lists_fresh=0
packages_installed=0 # 1 once this command has installed some

is_debian() { have dpkg-query && have apt-get; }

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo -n "$@" # nobody is there to type a password
    fi
}

# installed SPEC: SPEC is NAME or NAME>=VERSION.
installed() {
    local name=${1%%>=*} version=''
    [[ $1 == *'>='* ]] && version=${1#*>=}
    local state
    # ${...} below is dpkg-query's own syntax.
    # shellcheck disable=SC2016
    state=$(dpkg-query -W -f='${db:Status-Status} ${Version}\n' "$name" 2>/dev/null) || return 1
    [[ $state == installed\ * ]] || return 1
    [[ -z $version ]] || dpkg --compare-versions "${state#* }" ge "$version"
}

declare -A candidates # the version of each package that the distribution offers

# look_up SPEC...: all in one call; each one costs half a second.
look_up() {
    local name version
    while read -r name version; do
        candidates[$name]=$version
    done < <(LC_ALL=C apt-cache policy "${@%%>=*}" 2>/dev/null |
        awk '/^[^ ]/ { name = substr($1, 1, length($1) - 1) } $1 == "Candidate:" && $2 != "(none)" { print name, $2 }')
}

# offered SPEC, after look_up: the distribution has it in that version.
offered() {
    local version='' candidate=${candidates[${1%%>=*}]:-}
    [[ $1 == *'>='* ]] && version=${1#*>=}
    [[ -n $candidate ]] || return 1
    [[ -z $version ]] || dpkg --compare-versions "$candidate" ge "$version"
}

# rows GROUP...: the lines of the list that belong to one of the groups, fields separated by tabs.
rows() {
    awk -F ' *[|] *' -v want=" $* " -v OFS='\t' \
        '!/^#/ && NF == 4 && index(want, " " $1 " ") { print $2, $3, $4 }' "$package_list"
}

satisfied() { # ALTERNATIVES COMMAND
    local spec
    [[ $2 != - ]] && have "$2" && return 0
    for spec in $1; do installed "$spec" && return 0; done
    return 1
}

apt_failed() { # LOG WHAT
    local hint='read the lines above; "apt-get update" by hand often shows the cause'
    if grep -qiE 'no space left|not enough free disk space' "$1"; then
        hint='the disk is full: free some space and run the command again'
    elif grep -qiE 'temporary failure resolving|could not resolve|connection (failed|timed out)|unable to connect' "$1"; then
        hint='the package mirror cannot be reached: check the network and /etc/apt/sources.list'
    elif grep -qiE 'could not get lock|unable to acquire the dpkg' "$1"; then
        hint='another package manager is running: wait until it has finished'
    elif grep -qiE 'a password is required|not in the sudoers|permission denied' "$1"; then
        hint='root is needed: run as root, or install the packages listed above by hand'
    fi
    tail -n 12 "$1" >&2
    rm -f "$1"
    fail "$exit_undecided" "$2 failed" "$hint"
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 \
        -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# A mirror that has nothing to do with what is missing may be down: only a failed installation is an error.
apt_update() {
    local log
    require_space /var 1500 'installing packages'
    say 'Packages are missing: reading the package lists (apt-get update)'
    log=$(mktemp)
    if ! apt update >"$log" 2>&1; then
        tail -n 6 "$log" >&2
        note 'apt-get update reported the errors above; going on with the lists that are there'
    fi
    rm -f "$log"
    apt_lists_fresh=1
}

apt_install() {
    local log
    say "Installing $# packages (apt-get install)"
    log=$(mktemp)
    apt install -y --no-install-recommends "$@" >"$log" 2>&1 || apt_failed "$log" "apt-get install $*"
    rm -f "$log"
    packages_installed=1
}

# need GROUP...: afterwards everything of these groups is there, or the command has ended.
need() {
    local alternatives command reason spec name chosen missing=() wanted=() names=() unknown=()
    if ! is_debian; then
        need_elsewhere "$@"
        return
    fi
    while IFS=$'\t' read -r alternatives command reason; do
        satisfied "$alternatives" "$command" || missing+=("$alternatives"$'\t'"$reason")
    done < <(rows "$@")
    ((${#missing[@]})) || return 0

    local may_install=$allow_install
    ((EUID == 0)) || have sudo || may_install=0
    if ((may_install && !apt_lists_fresh)); then apt_update; fi
    say "Missing packages for: $*"
    read -ra wanted <<<"${missing[*]%%$'\t'*}"
    look_up "${wanted[@]}"
    for spec in "${missing[@]}"; do
        alternatives=${spec%%$'\t'*}
        chosen=''
        for name in $alternatives; do
            if offered "$name"; then
                chosen=${name%%>=*}
                break
            fi
        done
        if [[ -z $chosen ]]; then
            chosen=${alternatives%%[ >]*}
            unknown+=("$chosen")
        fi
        names+=("$chosen")
        printf '    %-24s %s\n' "$chosen" "${spec#*$'\t'}" >&2
    done
    if ((!may_install)); then
        if ((allow_install)); then note 'You are not root and there is no sudo.'; fi
        note 'To install them, as root:'
        note "apt-get install --no-install-recommends ${names[*]}"
        exit "$exit_undecided"
    fi
    ((${#unknown[@]} == 0)) || fail "$exit_undecided" "this distribution does not offer: ${unknown[*]}" \
        'on Ubuntu the component "universe" must be enabled (add-apt-repository universe)' \
        'Debian 12 and Ubuntu 24.04 or newer have all of them'
    apt_install "${names[@]}"
}

need_elsewhere() {
    local alternatives command reason tool missing=()
    say 'This is neither Debian nor Ubuntu, so nothing is installed. What is needed, by the names Debian gives it:'
    while IFS=$'\t' read -r alternatives command reason; do
        printf '    %-24s %s\n' "${alternatives%%[ >]*}" "$reason" >&2
        [[ $command == - || $command == ccache ]] || have "$command" || missing+=("$command")
    done < <(rows "$@")
    ((allow_install)) || exit "$exit_undecided"
    have c++ || have g++ || have clang++ || missing+=('a C++20 compiler')
    for tool in "${missing[@]}"; do note "not found: $tool"; done
    ((${#missing[@]} == 0)) || exit "$exit_undecided"
}
