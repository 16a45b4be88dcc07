// SPDX-License-Identifier: Apache-2.0
// What configuration says about plugins by name: who may serve, who may not, who must.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loader/reasons.hpp"
#include "hbf/config.hpp"

namespace hbf::loader {

struct NameList {
    std::vector<std::string> names;
    std::string where; // "HBF_PLUGINS", "/etc/hbf/hbf.toml:3:9"
};

struct Policy {
    NameList allow, deny, pin;

    static Policy from(const Config &config);

    // A listed name that no manifest has is an error that says which and suggests the nearest.
    Result<> check_names(const std::vector<std::string> &known) const;
    std::optional<Refusal> objection(std::string_view plugin) const;

    size_t pin_index(std::string_view plugin) const;   // pin.names.size() if not pinned
    size_t allow_index(std::string_view plugin) const; // the order of preference; 0 if every plugin is allowed
};

} // namespace hbf::loader
