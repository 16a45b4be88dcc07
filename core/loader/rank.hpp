// SPDX-License-Identifier: Apache-2.0
// The order among plugins that can serve this host: a comparison of tuples, total, so that it is the same each time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hbf::loader {

struct RankKey {
    size_t pin_index = 0;   // smaller is better, as for all indices
    bool emulated = false;  // real before emulated
    size_t allow_index = 0; // the user's own order in plugins.allow
    bool on_cpu = false;    // accelerators, and the host itself, before what only makes the host look like one
    int priority = 0;       // of the manifest, higher is better
    std::string version;    // higher is better
    std::string name;       // alphabetical
    size_t found_index = 0; // search order: decides between two of the same name
};

// Numbers in a version count as numbers: 1.10 is above 1.9; "1.0-rc1" is below "1.0". <0, 0, >0
int compare_versions(std::string_view a, std::string_view b);

bool ranks_before(const RankKey &a, const RankKey &b);

} // namespace hbf::loader
