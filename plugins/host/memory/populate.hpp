// SPDX-License-Identifier: Apache-2.0
// First touch: every page gets real memory, on the thread count that the size is worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/page_kind.hpp"

namespace hbf::host {

// Faults in every page without the risk of a signal (SIGBUS for a pool page that is not there, the OOM killer of a control
// group), and stores a word that is not zero in every 4 KiB, so that nothing below (zero page, a hypervisor that shares
// equal pages) can make one page out of many. `cpus`: where to run, empty: anywhere. Returns 0 or an errno: ENOMEM when
// memory ran out, EFAULT when a page could not be had, EHWPOISON for broken memory.
int populate(std::byte *address, uint64_t size, const PageKind &kind, const std::vector<int> &cpus);

unsigned populate_threads(uint64_t size, size_t cpus) noexcept;

} // namespace hbf::host
