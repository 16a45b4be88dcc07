// SPDX-License-Identifier: Apache-2.0
// A .tar.gz of plain files in one folder, written and read within bounds. libarchive stays behind this header.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <tl/expected.hpp>

namespace hbf::conformance {

using Files = std::map<std::string, std::string>; // name below the folder -> content

// The same files give the same bytes: no owner, no time but `seconds` (since 1970).
tl::expected<std::string, std::string> pack(const std::string &folder, const Files &files, int64_t seconds);

struct Unpacked {
    std::string folder;
    Files files;
};
// Refuses what no package of ours holds: links, devices, names that lead out of the folder, a name twice, more than one
// folder, more than 64 MiB a file, 256 MiB or 10,000 files in all, an archive that ends early.
tl::expected<Unpacked, std::string> unpack(const std::filesystem::path &file);

} // namespace hbf::conformance
