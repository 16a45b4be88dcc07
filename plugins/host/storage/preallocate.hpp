// SPDX-License-Identifier: Apache-2.0
// Disk space for a whole file before its first byte is written.
#pragma once

#include <cstdint>
#include <string>

namespace hbf::host {

// The file reads as zeros and its blocks are allocated: a later write cannot meet a full disk. Throws sdk::Failure EXHAUSTED
// with what was wanted and what is free; the caller drops the file.
void preallocate(int fd, uint64_t size, const std::string &label);

} // namespace hbf::host
