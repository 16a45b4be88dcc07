// SPDX-License-Identifier: Apache-2.0
// Where threads run and pages lie, as the kernel says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hbf::measure {

std::vector<int> allowed_cpus();                // this thread's affinity
bool bind_thread(const std::vector<int> &cpus); // false, nothing changed, where refused

struct CpuPlace {
    int cpu = -1, node = -1; // -1: the kernel did not say
};
CpuPlace current_place();

// Pages of a range by node, up to `most` evenly spread ones. Key -1: not resident or not known.
struct PagePlaces {
    std::map<int, size_t> pages;
    std::string error; // why nothing is known
    bool all_on(int node) const { return pages.size() == 1 && pages.begin()->first == node; }
};
PagePlaces page_places(const std::byte *address, uint64_t size, size_t most = 256);

} // namespace hbf::measure
