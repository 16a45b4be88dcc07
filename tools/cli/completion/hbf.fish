# SPDX-License-Identifier: Apache-2.0
# Completion of hbf for fish. What can follow is asked from the command itself.
function __hbf_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l answer ($typed[1] __complete $typed[2..-1] 2>/dev/null)
    set -q answer[1]; or return
    set -l directive $answer[-1]
    if set -q answer[2]
        for line in $answer[1..-2]
            echo $line
        end
    end
    set -l current (commandline -ct)
    switch $directive
        case :files
            __fish_complete_path (string replace -r -- '^--[^=]*=' '' $current)
        case :folders
            __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $current)
    end
end
complete -c hbf -f -a '(__hbf_complete)'
