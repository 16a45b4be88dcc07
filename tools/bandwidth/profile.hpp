// SPDX-License-Identifier: Apache-2.0
// Floors a platform must reach, with where they come from. Without a profile nothing is judged against a floor.
//
//     { "profile": "vendor X node", "device": "X100", "source": "datasheet 1234, table 5", "date": "2026-01-31",
//       "floors": [ { "src": "dram0", "dst": "dram0", "gb_per_s": 9.5, "source": "table 7" } ] }
//
// src and dst are tier names or kinds (hbm, hbf, cold). A floor may have a source of its own. "device" may be absent: a part
// of the device's name; transfers within and to other devices have no floor then.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tools/bandwidth/result.hpp"

namespace hbf::tools::bandwidth {

struct Profile {
    struct Entry {
        std::string src, dst, source;
        double gbs = 0;
    };
    std::string name, device, source, date;
    std::vector<Entry> floors;

    std::optional<Floor> floor(const Place &src, const Place &dst) const; // a name before a kind
};

// The error names file, key and remedy: unknown or missing keys, wrong types, figures that are no positive number.
tl::expected<Profile, std::string> parse_profile(std::string_view text, const std::string &file);
// A file, or the name of one that is installed with hbf: "nvidia-h100-sxm". The error names those.
tl::expected<Profile, std::string> load_profile(const std::string &file_or_name);
std::vector<std::string> profile_names(); // sorted

} // namespace hbf::tools::bandwidth
