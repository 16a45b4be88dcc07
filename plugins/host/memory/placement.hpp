// SPDX-License-Identifier: Apache-2.0
// Pages on one NUMA node: asked for strictly, and looked up afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hbf::host {

// Binds pages that are not there yet. "" or why not.
std::string bind_to_node(std::byte *address, uint64_t size, int node);

// Asks the kernel where pages are: the first, the last and up to 510 between them.
struct PagePlace {
    bool known = false;    // false: the kernel refused to say (seccomp, no NUMA); `why`
    bool all_there = true; // on `node`
    uint64_t offset = 0;   // of the first page found elsewhere
    int found = -1;        // its node
    std::string why;
};
PagePlace check_node(std::byte *address, uint64_t size, int node);

// Whether both work for this node, tried with one page.
struct BindProbe {
    bool works = false;
    bool refused = false; // by the kernel as such, not this node in particular: unbound memory is the best to be had
    std::string why;
};
BindProbe probe_node(int node);

} // namespace hbf::host
