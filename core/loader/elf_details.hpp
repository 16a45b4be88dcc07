// SPDX-License-Identifier: Apache-2.0
// What else a shared object's tables say: of no concern to who loads it, but to who judges it.
#pragma once

#include <string>
#include <vector>

#include "core/loader/elf.hpp"

namespace hbf::loader {

struct ElfDetails {
    std::vector<std::string> exported; // defined here and visible to others, at most most_exported, in the table's order
    std::vector<std::string> versions; // of symbols of needed libraries: "libc.so.6 GLIBC_2.34"
    bool stays = false;                // never to be unloaded (DF_1_NODELETE)
    bool binds_at_load = false;        // every symbol is resolved when it is loaded
    bool executable_stack = false;     // the process's stacks have to be executable for it
    bool text_relocations = false;     // its code is written to when it is loaded
};
inline constexpr size_t most_exported = 4096;

// Of a file that examine_elf took; anything that cannot be read is left as it is here.
ElfDetails elf_details(const ByteSource &file);

} // namespace hbf::loader
