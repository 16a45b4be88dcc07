# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev fmt and ./dev lint.

lint_usage() {
    cat <<'END'
Usage: ./dev lint [--all] [--since=COMMIT]

Layout (clang-format), mistakes (clang-tidy, shellcheck) and the rules of tools/dev/check_rules.py.
All files are checked, except that clang-tidy reads only C++ files that changed since COMMIT (default: where this
branch left its upstream; where there is no upstream or nothing was added to it, the last commit), or every one with --all.
END
}

# c_files [FILE...]: the C and C++ sources among the files, or in the whole tree; new ones too.
c_files() {
    git ls-files --cached --others --exclude-standard -- "${@:-.}" | grep -E '\.(c|h|cpp|hpp|cc)$' | existing
}

existing() {
    local file
    while IFS= read -r file; do [[ -f $file && ! -L $file ]] && printf '%s\n' "$file"; done
    return 0
}

# Rooms of ./dev begin with no "#!": shellcheck reads them with ./dev, since they share its variables.
shell_scripts() {
    local file
    git ls-files --cached --others --exclude-standard | existing | while IFS= read -r file; do
        if head -n 1 "$file" | LC_ALL=C grep -aqE '^#!.*\b(ba)?sh\b'; then printf '%s\n' "$file"; fi
    done
}

dev_fmt() {
    need lint
    local files
    mapfile -t files < <(c_files "$@")
    ((${#files[@]})) || fail "$exit_usage" "no C or C++ source among: ${*:-.}"
    clang-format-19 -i "${files[@]}"
    note "${#files[@]} files laid out"
}

changed_since() {
    local base=$1
    if [[ -z $base ]]; then
        base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || true)
        if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
            base=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
        fi
    fi
    { git diff --name-only --diff-filter=d "$base" -- && git ls-files --others --exclude-standard; } | sort -u
}

layout() { # FILE...
    clang-format-19 --dry-run --Werror "$@" 2>&1 | grep -E 'error:' | cut -d: -f1 | sort | uniq -c |
        awk '{ print $2 ": " $1 " places; ./dev fmt mends them" }'
    ((PIPESTATUS[0] == 0))
}

# tidy FILE...: each through clang-tidy, as many at a time as there are processors.
tidy() {
    local compiled
    # A file that is not compiled in this configuration has no flags to read it with. Of the flags, the precompiled header is
    # left out: it is another compiler's, and without it a forgotten include is found. So is what only gcc knows.
    mkdir -p build/lint
    mapfile -t compiled < <(printf '%s\n' "$@" | python3 -c '
import json, os, re, sys
entries = json.load(open("build/compile_commands.json"))
for e in entries:
    e["command"] = re.sub(r"-include(-pch)? tools/dev/pch/\S+|-mmemset-strategy=\S+", "", e["command"])
json.dump(entries, open("build/lint/compile_commands.json", "w"))
known = {os.path.relpath(os.path.join(e["directory"], e["file"])) for e in entries}
print("\n".join(f for f in sys.stdin.read().split("\n") if f in known))')
    [[ -n ${compiled[*]} ]] || return 0
    note "clang-tidy: ${#compiled[@]} files"
    # clang does not know every warning that gcc knows.
    printf '%s\0' "${compiled[@]}" |
        xargs -0 -P "$(nproc)" -n 1 clang-tidy-19 -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
        grep -vE '^([0-9]+ warnings? (generated|treated)|Suppressed|Use -header-filter)'
    ((PIPESTATUS[1] == 0))
}

dev_lint() {
    local all=0 since='' broken=() files
    while (($#)); do
        case $1 in
            --all) all=1 ;;
            --since=?*) since=${1#*=} ;;
            -h | --help) lint_usage && return ;;
            *) fail "$exit_usage" "unknown argument '$1'" 'see ./dev lint --help' ;;
        esac
        shift
    done
    need build test lint
    [[ -z $since ]] || git rev-parse -q --verify "$since^{commit}" >/dev/null || fail "$exit_usage" "no commit '$since'"

    say 'Rules of this project'
    mapfile -t files < <(git ls-files --cached --others --exclude-standard)
    tools/dev/check_rules.py . "${files[@]}" || broken+=('rules')

    say 'Shell scripts (shellcheck)'
    mapfile -t files < <(shell_scripts)
    shellcheck -x "${files[@]}" || broken+=('shellcheck')

    say 'Layout (clang-format)'
    mapfile -t files < <(c_files)
    layout "${files[@]}" || broken+=('layout')

    say 'Mistakes (clang-tidy)'
    configure build '' ''
    if ((all)); then mapfile -t files < <(c_files); else mapfile -t files < <(changed_since "$since"); fi
    tidy "${files[@]}" || broken+=('clang-tidy')

    if ((${#broken[@]})); then
        say "lint: found something in: ${broken[*]}"
        return 1
    fi
    say 'lint: clean'
}
