// SPDX-License-Identifier: Apache-2.0
// A region: a range in one tier of one device. The handle is plain data; a stale one is an error, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hbf {

struct Region {
    uint32_t device = 0; // process-wide device number, never reused
    uint32_t slot = 0;
    uint32_t generation = 0; // 0: no region
    explicit operator bool() const { return generation != 0; }
    bool operator==(const Region &) const = default;
};

struct RegionInfo {
    Region region;
    uint32_t tier = 0;            // index, HBF_TIER_NONE for registered host memory
    uint64_t size = 0;            // bytes
    uint64_t page_size = 0;       // bytes, verified; 0 where pages do not apply
    std::byte *address = nullptr; // CPU address, nullptr where there is none
    bool spilled = false;         // landed in the tier's extension, because the tier was full and spill was allowed
};

enum class Pages : uint32_t { best = 0, p4k = 1, thp = 2, p2m = 3, p1g = 4 }; // values of hbf_pages

struct AllocateOptions {
    Pages pages = Pages::best;
    uint64_t alignment = 0;     // bytes, 0: the tier's
    bool spill = false;         // may land in tier.extended_by; RegionInfo.spilled says so
    std::string name = {};      // persistent tiers only
    bool open_existing = false; // with name
};

} // namespace hbf
