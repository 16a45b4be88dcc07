# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of what is given away: checks are named, counted, and say what went wrong. $work is a folder.
passed=0 failed=0 skipped=0

# passes NAME COMMAND...
passes() {
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1 </dev/null; then
        printf 'ok       %s\n' "$what"
        ((passed += 1))
    else
        printf 'FAILED   %s (exit code %d)\n' "$what" "$?"
        sed 's/^/         /' "$work/said" | tail -n 30
        ((failed += 1))
    fi
}

# skip NAME REASON
skip() {
    printf 'skipped  %s: %s\n' "$1" "$2"
    ((skipped += 1))
}

# says WORDS COMMAND...: it succeeds, and WORDS are in what it prints.
says() {
    local words=$1 said code=0
    shift
    said=$("$@" 2>&1) || code=$?
    printf '%s\n' "$said"
    ((code == 0)) && grep -qF -- "$words" <<<"$said"
}

# finish: the last line, and the exit code of it all.
finish() {
    printf '%d passed, %d failed' "$passed" "$failed"
    ((!skipped)) || printf ', %d skipped' "$skipped"
    printf '\n'
    ((failed == 0)) || exit 1
    ((passed > 0)) || exit 77
    exit 0
}

# Another user: no account has this number.
# shellcheck disable=SC2034 # for those who source this
readonly other=64646
# Quick, without the group whose verdict is about speed: whoever works beside this test would decide it.
# shellcheck disable=SC2034
suite=(conformance --device host --profile quick --skip 'bandwidth.*')
# Emulated machines, each with the plugin that is to be chosen on it. Not l0: Level Zero's loader is this system's, if any.
# shellcheck disable=SC2034
emulated=(h100x4=nvidia mi300x=amd mlu370=cambricon)
