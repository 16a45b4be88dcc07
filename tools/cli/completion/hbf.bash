# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion of hbf for bash. What can follow is asked from the command itself.
_hbf() {
    local i words=() answer=() directive cut candidate
    # bash parts words at "=" and ":" too; the command sees whole ones.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        if ((${#words[@]})) && [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    local current=${words[-1]-}
    mapfile -t answer < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
    ((${#answer[@]})) || return 0
    directive=${answer[-1]}
    unset 'answer[-1]'
    # Only what follows the last "=" or ":" is the word that bash replaces.
    cut=${current%"${current##*[=:]}"}
    COMPREPLY=()
    for candidate in "${answer[@]}"; do
        candidate=${candidate%%$'\t'*}
        COMPREPLY+=("${candidate#"$cut"}")
    done
    case $directive in
        :files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$cut"}") ;;
        :folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${current#"$cut"}") ;;
    esac
    if [[ $directive != :none ]]; then
        compopt -o filenames 2>/dev/null
    fi
    # "dma," goes on: no blank after what ends with a comma or is part of a list.
    if [[ ${COMPREPLY[0]-} == *[=,] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -F _hbf hbf
