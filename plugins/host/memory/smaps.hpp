// SPDX-License-Identifier: Apache-2.0
// The kernel's own word on the pages of a mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>

namespace hbf::host {

struct PageFacts {
    uint64_t kernel_page = 0; // bytes; of the pool's pages where they are such
    uint64_t transparent = 0; // bytes that lie in transparent huge pages
    uint64_t resident = 0;    // bytes that have memory at all
};

// The area that begins exactly at `address`, from /proc/self/smaps; nothing if there is none or it cannot be read.
std::optional<PageFacts> page_facts(const std::byte *address);
std::optional<PageFacts> parse_smaps(std::istream &smaps, uint64_t address);

} // namespace hbf::host
