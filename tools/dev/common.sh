# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the rooms of ./dev. The caller has set $root (the checkout) and runs in it.

# Exit codes, as hbf has them: 0 pass, 1 fail, and these.
readonly exit_usage=2 exit_undecided=3

if [[ -t 2 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

say() { printf '%s==>%s %s\n' "$bold" "$plain" "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }

# fail CODE MESSAGE...: ends the command; every further argument is a line of its own.
fail() {
    local code=$1
    shift
    printf 'dev: error: %s\n' "$1" >&2
    shift
    while (($#)); do
        printf '     %s\n' "$1" >&2
        shift
    done
    exit "$code"
}

have() { command -v "$1" >/dev/null 2>&1; }

# require_space FOLDER MEBIBYTES WHAT: a full disk fails late and obscurely; say it first.
require_space() {
    local free
    free=$(df -Pm "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
    [[ $free =~ ^[0-9]+$ ]] || return 0
    ((free >= $2)) || fail "$exit_undecided" "$1 has $free MiB free, $3 needs about $2 MiB" \
        "free some space there (./dev clean removes the build folders), then run the command again"
}
