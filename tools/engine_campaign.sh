#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engine under random faults for as long as one likes; every seed is kept. Ends with 0 if no answer was wrong.
set -uo pipefail

usage() {
    cat <<'END'
Usage: tools/engine_campaign.sh [--hours H | --minutes M] [--build FOLDER] [--out FILE] [--seed N]

A campaign against the KV engine with fresh seeds: random faults of the device under a running cache (kv-campaign), each
fault of the wrapper once, and 200 times SIGKILL in the middle of writing to the cold tier. Every round's seed and outcome
is added to FILE, from which a round can be repeated.

  --hours H      how long the random faults go on (default: 1); --minutes M: minutes instead
  --build FOLDER where the tests were built (default: build)
  --out FILE     the seeds (default: engine-campaign-DATE.txt in the build folder)
  --seed N       of the first round (default: a random one)

Exit codes: 0 no wrong answer, 1 a wrong answer or a process that ended, 2 usage, 3 something is not built.
END
}

fail() {
    printf 'engine_campaign.sh: %s\n' "$2" >&2
    exit "$1"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
seconds=3600 build=$root/build out='' seed=''
while (($#)); do
    case $1 in
    --help | -h) usage && exit 0 ;;
    --hours | --minutes | --build | --out | --seed) [[ -n ${2-} ]] || fail 2 "$1: a value is missing" ;;&
    --hours | --minutes)
        [[ $2 =~ ^[0-9]+$ && $2 -gt 0 ]] || fail 2 "$1 '$2': a number above 0"
        if [[ $1 == --hours ]]; then seconds=$(($2 * 3600)); else seconds=$(($2 * 60)); fi
        ;;
    --build) build=$2 ;;
    --out) out=$2 ;;
    --seed)
        [[ $2 =~ ^[0-9]+$ ]] || fail 2 "--seed '$2': a number"
        seed=$2
        ;;
    *) fail 2 "unknown argument '$1'; --help lists them" ;;
    esac
    shift 2
done
campaign=$build/conformance/engine/kv-campaign cold=$build/core/engine/test_engine_cold
for program in "$campaign" "$cold"; do
    [[ -x $program ]] || fail 3 "$program is not built; remedy: ./dev test engine"
done
[[ -n $out ]] || out=$build/engine-campaign-$(date +%Y%m%d-%H%M%S).txt
[[ -n $seed ]] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
{
    printf '# seed, steps, outcome, answers, errors, fault\n'
    printf '# a round again: kv-campaign --rounds 1 --seed SEED --steps STEPS --fault FAULT\n'
} >>"$out" || fail 3 "$out cannot be written"

export HBF_LOG=off # a fault floods it
bad=0
run() { # NAME COMMAND...
    printf '\n##### %s\n' "$1"
    "${@:2}" || { bad=1 && printf '##### %s: exit code %d\n' "$1" "$?"; }
}

run 'each fault of the wrapper' "$campaign" --each --seed "$seed" --seeds "$out"
kills=$(mktemp -d "$build/kills-XXXXXX") || fail 3 "no folder in $build"
run '200 kills while the cold tier is written' env HBF_KILLS=200 HBF_SEED="$((seed % 2147483647))" HBF_TEST_DIR="$kills" \
    "$cold" --gtest_filter="*Kill*" --gtest_brief=1
rm -rf "$kills"
printf '# 200 kills: seed %d\n' "$((seed % 2147483647))" >>"$out"
run 'random faults' "$campaign" --seconds "$seconds" --seed "$seed" --seeds "$out"

rounds=$(grep -vc '^#' "$out") wrong=$(grep -c '^[0-9]* [0-9]* BAD ' "$out")
answers=$(awk '!/^#/ {sum += $4} END {print sum + 0}' "$out")
printf '\n%d rounds, %d right answers, %d rounds wrong; seeds: %s\n' "$rounds" "$answers" "$wrong" "$out"
exit "$bad"
