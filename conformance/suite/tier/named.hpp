// SPDX-License-Identifier: Apache-2.0
// Named regions of a case. The ABI has no way to remove one, so cases that store use few fixed names and use them again;
// what stays behind is some hundred KiB under names that begin with "hbf-conformance.".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {

struct NamedRegion {
    std::string name;
    uint64_t size = 0;
    std::vector<std::byte> bytes;
};

// Opens it, or makes it if there is none; fails the case otherwise.
hbf_region_info open_or_create(const Instance &device, uint32_t tier, const std::string &name, uint64_t size);
// Opens or makes it, writes `generation` of the case's bytes all over, and frees it.
NamedRegion store_named(Context &context, const Instance &device, uint32_t tier, const std::string &name, uint64_t size,
                        uint32_t generation);
// Writes into a region that is open.
NamedRegion write_named(Context &context, const Instance &device, const hbf_region_info &region, const std::string &name,
                        uint32_t generation);
// Opens it, compares, frees it. One check.
void must_find(Context &context, const Instance &device, uint32_t tier, const NamedRegion &stored, std::string_view when);

// Destroys the context's instance and makes it again. Storage belongs to one process at a time: if another one took it in
// between, nothing can be said.
Instance &made_again(Context &context);

// A name no region ever had.
std::string fresh_name(const char *what);

} // namespace hbf::conformance
