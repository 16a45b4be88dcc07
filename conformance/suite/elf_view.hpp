// SPDX-License-Identifier: Apache-2.0
// What the dynamic linker knows of a loaded library: its exported symbols and its flags, from its own tables in memory.
#pragma once

#include <string>
#include <vector>

namespace hbf::conformance {

struct ElfView {
    std::vector<std::string> exported; // defined here and visible to others, by the table's order
    std::vector<std::string> needed;   // DT_NEEDED
    std::string run_path;              // DT_RUNPATH or DT_RPATH, "" if there is none
    bool bind_now = false;             // every symbol was resolved when it was loaded, whatever the opener asked for
};
ElfView view_elf(void *library); // a dlopen handle; throws std::runtime_error if it has no such tables

} // namespace hbf::conformance
