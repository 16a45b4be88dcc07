// SPDX-License-Identifier: Apache-2.0
// Whether a block device may be taken: it is blank, it is ours, or someone said that what it holds may be lost.
#pragma once

#include <cstdint>
#include <string>

namespace hbf::host {

constexpr uint64_t block_reserved = 1u << 20; // bytes at the start that hold the label

// Reads the first and the last MiB. "" : blank or carries our label; else what is there: "an ext4 file system", "data".
std::string foreign_content(int fd, uint64_t size, const std::string &path);

void write_label(int fd, const std::string &path);

} // namespace hbf::host
