/* SPDX-License-Identifier: Apache-2.0 */
    .section .rodata
    .macro script name, file
    .global hbf_completion_\name, hbf_completion_\name\()_end
    .hidden hbf_completion_\name
    .hidden hbf_completion_\name\()_end
hbf_completion_\name:
    .incbin "\file"
hbf_completion_\name\()_end:
    .endm

    script bash, HBF_COMPLETION_BASH
    script zsh, HBF_COMPLETION_ZSH
    script fish, HBF_COMPLETION_FISH
    .section .note.GNU-stack, "", %progbits
