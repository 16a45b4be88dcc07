// SPDX-License-Identifier: Apache-2.0
// What a request for pages means on this kernel.
#pragma once

#include <cstdint>

#include "hbf/abi/tier.h"

namespace hbf::host {

struct PageKind {
    hbf_pages asked = HBF_PAGES_DEFAULT;
    uint64_t page = 4096; // bytes of the pages wanted: the region is aligned to and a multiple of these
    int map_flags = 0;    // beside MAP_PRIVATE | MAP_ANONYMOUS
    int advice = -1;      // for madvise, -1 none
    bool reserved_pool() const { return map_flags != 0; }     // from the hugetlb pool that an administrator set aside
    bool exact() const { return asked != HBF_PAGES_DEFAULT; } // anything smaller is a failure
};

uint64_t base_page_size() noexcept;        // of the running kernel
uint64_t transparent_page_size() noexcept; // 0 where the kernel has none or they are switched off ("never")

// Throws sdk::Failure: INVALID for an unknown value, UNAVAILABLE where this kernel has no such pages, with the remedy.
// `size` bytes decide what the default is: small regions get base pages.
PageKind page_kind(hbf_pages asked, uint64_t size);

const char *name_of(hbf_pages pages) noexcept; // "4K", "THP", "2M", "1G", "default"

} // namespace hbf::host
