// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_list.hpp"
#include "conformance/runner/profile.hpp"
#include "conformance/suite/case.hpp"

namespace hbf::conformance {

std::vector<CaseEntry> linked_cases() {
    std::vector<CaseEntry> out;
    for (const Case *one : all_cases()) {
        const CaseInfo &info = one->info;
        CaseEntry entry;
        entry.name = one->name;
        entry.rules.assign(info.rules.begin(), info.rules.end());
        entry.kills.assign(info.kills.begin(), info.kills.end());
        for (uint32_t bit = 1; bit; bit <<= 1)
            if (info.needs & bit) entry.needs.emplace_back(need_name(bit));
        entry.profile = to_string(info.profile);
        entry.budget_s = info.budget_s;
        entry.limit_s = info.limit_s;
        entry.masked = info.masked;
        entry.host_side = info.host_side;
        entry.hidden = info.hidden;
        entry.unproven = info.unproven;
        out.push_back(std::move(entry));
    }
    return out;
}

} // namespace hbf::conformance
