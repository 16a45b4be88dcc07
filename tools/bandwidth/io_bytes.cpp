// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/io_bytes.hpp"

#include <fstream>
#include <string>

namespace hbf::tools::bandwidth {

std::optional<IoBytes> read_io_bytes(const std::filesystem::path &file) {
    std::ifstream lines(file);
    IoBytes out;
    int found = 0;
    std::string key;
    uint64_t value = 0;
    while (lines >> key >> value) {
        if (key == "read_bytes:") out.read = value, ++found;
        if (key == "write_bytes:") out.written = value, ++found;
    }
    return found == 2 ? std::optional(out) : std::nullopt;
}

} // namespace hbf::tools::bandwidth
