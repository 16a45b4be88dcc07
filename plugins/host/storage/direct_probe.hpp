// SPDX-License-Identifier: Apache-2.0
// Whether O_DIRECT goes past the page cache here. A flag that open accepts proves nothing: some file systems take it and
// buffer all the same.
#pragma once

#include <string>

#include "alignment.hpp"

namespace hbf::host {

struct DirectProbe {
    Alignment alignment; // {1, 1}: not direct
    std::string refusal; // why not, "" when direct
};

// `fd`: an empty file opened with O_DIRECT, ours to write.
DirectProbe probe_direct(int fd);

// Pages of the file's first `size` bytes that are in the page cache; -1 where the kernel does not tell.
int64_t resident_pages(int fd, uint64_t size);

} // namespace hbf::host
