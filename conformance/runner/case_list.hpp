// SPDX-License-Identifier: Apache-2.0
// What cases there are, as hbf-case tells it and the runner reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/output/json.hpp"

namespace hbf::conformance {

// CaseInfo (conformance/suite/case.hpp), outside the program that holds the cases.
struct CaseEntry {
    std::string name;
    std::vector<std::string> rules = {}, kills = {};
    std::vector<std::string> needs = {}; // "cancel"
    std::string profile = "quick";
    double budget_s = 0;
    uint32_t limit_s = 20;
    bool masked = false, host_side = false, hidden = false;
    std::string unproven = {};

    std::string group() const { return name.substr(0, name.find('.')); }
};

Json to_json(const std::vector<CaseEntry> &cases);
tl::expected<std::vector<CaseEntry>, std::string> case_list_from(std::string_view text);

std::vector<CaseEntry> linked_cases(); // of this program, hidden ones too; only where cases are linked (hbf-case)

} // namespace hbf::conformance
