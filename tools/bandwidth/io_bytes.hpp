// SPDX-License-Identifier: Apache-2.0
// Bytes this process had the storage layer move: what the page cache answered is not among them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hbf::tools::bandwidth {

struct IoBytes {
    uint64_t read = 0, written = 0;
};
std::optional<IoBytes>
read_io_bytes(const std::filesystem::path &file = "/proc/self/io"); // nothing: the kernel does not count

} // namespace hbf::tools::bandwidth
