// SPDX-License-Identifier: Apache-2.0
// Where the dynamic linker will look for what a library needs, as far as the library itself says so (DT_RUNPATH, DT_RPATH,
// names with a slash): who can put a file there owns the process as much as who can change the library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/loader/elf.hpp"
#include "core/loader/trust.hpp"

namespace hbf::loader {

// The first weakness of those folders, and of the needed libraries that lie in them, that the yardstick (nullptr: none is
// allowed) does not cover; also a place that cannot be judged: one relative to the working directory, a token other than
// $ORIGIN, a folder that cannot be looked at. `library`: absolute and without links, as it will be opened.
std::optional<std::string> run_path_objection(const ElfFacts &facts, const std::filesystem::path &library,
                                              const Yardstick *yardstick);

} // namespace hbf::loader
