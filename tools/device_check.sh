#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that is asked of a machine with accelerators, in under four minutes: probe, doctor, conformance, bandwidth.
# Needs bash, coreutils, awk and an unpacked bundle (or a build folder); no compiler, no Python, no network, no root.
set -uo pipefail

usage() {
    cat <<'END'
Usage: device_check.sh [--hbf FILE] [--device NAME] [--seconds N] [-o FILE]

Looks at this machine and its accelerators with hbf, and writes one JSON document: what each step printed, its exit code and
its time; on the terminal a table as nvbandwidth has it. Without --device the first device that is not the host's own memory
is taken.

  --hbf FILE      the command (default: bin/hbf beside this script or above it, build/tools/hbf, then the one in PATH)
  --device NAME   as 'hbf probe' names it; a plugin's name is its first device
  --seconds N     for all steps together (default 225)
  -o FILE         the document (default: device_check.json here)

Exit code: 0 every step passed, 1 a step failed, 2 wrong usage, 3 a step could not decide or ran out of time,
77 this machine has no accelerator that hbf can use.
END
}

stop() {
    printf 'device_check: %s\n' "$2" >&2
    exit "$1"
}

hbf='' device='' seconds=225 out=device_check.json
while (($#)); do
    case $1 in
        --hbf | --device | --seconds | -o)
            (($# > 1)) || stop 2 "$1 needs a value; see --help"
            case $1 in
                --hbf) hbf=$2 ;;
                --device) device=$2 ;;
                --seconds) seconds=$2 ;;
                -o) out=$2 ;;
            esac
            shift 2
            ;;
        -h | --help) usage && exit ;;
        *) stop 2 "unknown argument '$1'; see --help" ;;
    esac
done
[[ $seconds =~ ^[1-9][0-9]{0,4}$ ]] || stop 2 "--seconds '$seconds' is no number from 1 to 99999"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
if [[ -z $hbf ]]; then
    for hbf in "$here/bin/hbf" "$here/../bin/hbf" "$here/../../../bin/hbf" "$here/../build/tools/hbf" \
        "$(command -v hbf)"; do
        [[ ! -x $hbf ]] || break
    done
fi
[[ -x $hbf && ! -d $hbf ]] || stop 2 "no hbf is here; name it with --hbf FILE"

work=$(mktemp -d) || stop 3 'no folder for what the steps print'
trap 'rm -rf -- "$work"' EXIT
: >"$out" 2>/dev/null || stop 2 "$out cannot be written"

# Under 'hbf emulate' each line says so.
emulated=false mark=''
[[ -z ${HBF_EMULATE_ROOT:-}${HBF_EMULATE_PROFILE:-} ]] || emulated=true mark='  [emulated]'
say() { printf '%s%s\n' "$1" "$mark" >&2; }

# A JSON text of a line of ours or of another program.
quoted() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/\\n}
    text=${text//$'\t'/ }
    printf '"%s"' "$(printf '%s' "$text" | tr -d '\000-\037')"
}

began=$SECONDS worst=0
steps=()
# Not decided is worse than passed, failed worse than not decided.
remember() {
    case $1 in
        0 | 77) ;;
        1) worst=1 ;;
        *) ((worst == 1)) || worst=3 ;;
    esac
}

# step NAME SECONDS ARGUMENTS...: runs hbf; its stdout is one JSON document, or none.
step() {
    local name=$1 limit=$2 left=$((seconds - (SECONDS - began))) start=$SECONDS code=0 trouble=''
    shift 2
    ((limit < left)) || limit=$left
    steps+=("$name")
    if ((limit < 1)); then
        say "$(printf '%-24s not begun: the time was up' "$name")"
        printf '"%s":{"exit":3,"trouble":"the time was up","result":null}' "$name" >"$work/$name.step"
        remember 3
        return 3
    fi
    # Interrupted, hbf still reports what it has.
    timeout --signal=INT --kill-after=10 "$limit" "$hbf" "$@" >"$work/$name.json" 2>"$work/$name.err" </dev/null || code=$?
    ((code != 124 && code != 137)) || { trouble="stopped after $limit s" && code=3; }
    if ((code > 1 && code != 77)) && [[ -z $trouble ]]; then
        trouble=$(grep -Ev ': warning: |^note: ' "$work/$name.err" | tail -n 1)
        [[ -n $trouble ]] || trouble='nothing was decided; its result says why'
    fi
    {
        printf '"%s":{"command":%s,"exit":%d,"seconds":%d,"trouble":%s,"result":' "$name" "$(quoted "hbf $*")" "$code" \
            $((SECONDS - start)) "$(quoted "$trouble")"
        # What was cut off in the middle is no document.
        if [[ $(tail -c 2 "$work/$name.json" 2>/dev/null) == *'}'* ]]; then cat "$work/$name.json"; else printf null; fi
        printf '}'
    } >"$work/$name.step"
    remember "$code"
    say "$(printf '%-24s exit %d, %d s%s' "$name" "$code" $((SECONDS - start)) "${trouble:+: $trouble}")"
    return "$code"
}

# table STEP: a line a transfer, the median in GB/s or why there is none.
table() {
    [[ -s $work/$1.json ]] || return 0
    awk -v mark="$mark" '
        function text(line) { sub(/^[^:]*: *"/, "", line); sub(/",?$/, "", line); return line }
        function show() { if (transfer != "") printf "    %10s  %s%s\n", figure, transfer, mark }
        /^ *"rows": \[/ { rows = 1 }
        rows && /^ *"transfer": / { show(); transfer = text($0); figure = "none"; wall = 0 }
        rows && /^ *"(bandwidth|wall_bandwidth)": / { inside = $1 == "\"bandwidth\":" && figure == "none" }
        rows && inside && /^ *"median": / { figure = sprintf("%.2f", $2); inside = 0 }
        END { show() }' "$work/$1.json" >&2
}

finish() {
    local name comma=''
    {
        printf '{"schema_version":1,"kind":"device_check","emulated":%s,"device":%s,"hbf":%s,"date":"%s","machine":%s,' \
            "$emulated" "$(quoted "$device")" "$(quoted "$("$hbf" --version 2>/dev/null | head -n 1)")" \
            "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(quoted "$(uname -srm)")"
        printf '"seconds":%d,"exit":%d,"steps":{' $((SECONDS - began)) "$1"
        for name in "${steps[@]}"; do
            printf '%s\n' "$comma"
            cat "$work/$name.step"
            comma=,
        done
        printf '\n}}\n'
    } >"$work/whole"
    cp "$work/whole" "$out" || stop 3 "$out could not be written"
    [[ $emulated == false ]] || say 'EMULATED: no figure of this report is of hardware'
    say "$out: exit $1 after $((SECONDS - began)) s"
    exit "$1"
}

step probe 40 probe --json
if [[ -z $device ]]; then
    # The plugins that serve, in their order: a line each with name and version, then their devices.
    device=$("$hbf" probe 2>/dev/null |
        awk '/^[a-z][a-z0-9_-]* [0-9]/ { plugin = $1 } /^  [^ ]/ && plugin != "" && plugin != "host" { print $1; exit }')
    if [[ -z $device ]] && grep -Eq '"reason": *"probe_(timeout|crashed|failed)"' "$work/probe.json"; then
        say 'a plugin did not answer, so whether there is an accelerator is not known: see "hbf probe --explain"'
        finish 3
    fi
    if [[ -z $device ]]; then
        say 'no accelerator that hbf can use: see "hbf probe --explain"'
        finish 77
    fi
fi
say "$(printf '%-24s %s' device "$device")"
step doctor 20 doctor --json
step conformance 110 conformance --device "$device" --filter 'integrity,coherence,bandwidth' --json -
# As nvbandwidth has them: every pair of tiers (host to device, back, within the device), then both ways at once.
step bandwidth_matrix 50 bandwidth --device "$device" --matrix --time 20 --json
table bandwidth_matrix
step bandwidth_both_ways 35 bandwidth --device "$device" --bidirectional --time 10 --json
table bandwidth_both_ways
step latency_64KiB 50 bandwidth --device "$device" --latency --op-size 64KiB --depth 1 --time 10 --json
step granules_1024 40 bandwidth --device "$device" --matrix --size 128MiB --op-size 64KiB --depth 2 --batch 1024 --time 10 \
    --json
table granules_1024
finish "$worst"
