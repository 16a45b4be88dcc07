// SPDX-License-Identifier: Apache-2.0
// Which manifests are there: the search folders in order, the files of each by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hbf/config.hpp"
#include "hbf/status.hpp"

namespace hbf::loader {

inline constexpr size_t most_candidates = 256;

struct SearchFolder {
    std::filesystem::path path;
    bool sub_folders = false; // one level of them is searched too
};

struct SearchResult {
    std::vector<std::filesystem::path> manifests;      // in search order
    std::vector<std::filesystem::path> shared_objects; // *.so of the same folders, in the same order
    std::vector<std::string> notes;                    // folders that are not there, what was left out and why
};

// plugins.path_add, then plugins.path or, where that is empty, the installation's own folder. A folder that is no absolute
// path is an error: the current directory is never searched.
Result<std::vector<SearchFolder>> search_folders(const Config &config);

// Code::exhausted where memory or descriptors run out. May throw std::bad_alloc.
Result<SearchResult> search(const std::vector<SearchFolder> &folders);

} // namespace hbf::loader
