// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "conformance/suite/case.hpp"

namespace hbf::conformance {

inline std::string_view to_string(Profile profile) {
    return profile == Profile::quick ? "quick" : profile == Profile::full ? "full" : "soak";
}

inline std::optional<Profile> profile_from(std::string_view text) {
    for (const Profile profile : {Profile::quick, Profile::full, Profile::soak})
        if (to_string(profile) == text) return profile;
    return std::nullopt;
}

} // namespace hbf::conformance
