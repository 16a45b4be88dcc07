// SPDX-License-Identifier: Apache-2.0
// The system calls by which a log reaches its files, as a table, so that tests can make a disk fill up, fail or lose power.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "hbf/status.hpp"

namespace hbf::kv::cold {

struct Calls {
    std::function<int64_t(int fd, void *data, size_t size, uint64_t offset)> read; // as pread
    std::function<int64_t(int fd, const void *data, size_t size, uint64_t offset)> write;
    std::function<int(int fd, uint64_t size)> allocate; // 0 or errno: the file has `size` bytes, and room for them
    std::function<int(int fd)> sync;                    // 0 or errno: as fdatasync
};

const Calls &system_calls();

// Moves all of it. The error says what could not be done to which file, where, and why.
Result<> read_at(const Calls &calls, int fd, void *data, size_t size, uint64_t offset, const std::string &file);
Result<> write_at(const Calls &calls, int fd, const void *data, size_t size, uint64_t offset, const std::string &file);
Result<> sync_file(const Calls &calls, int fd, const std::string &file);

// What an errno of reading or writing means: EXHAUSTED (disk full, quota), PERMISSION, else DATA_LOSS.
Code code_of_io(int error) noexcept;

} // namespace hbf::kv::cold
