// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/report/summary.hpp"

namespace hbf::conformance {
namespace {

// How well a case can be followed up: a value at a place, a place, something.
int weight(const CaseRecord &record) {
    int most = 0;
    for (const Evidence &evidence : record.evidence) {
        const bool placed = evidence.wrong_bytes > 0 || evidence.region != 0;
        most = std::max(most, placed && evidence.width > 0 ? 3 : placed ? 2 : 1);
    }
    return most;
}

FindingGroup &group_of(std::vector<FindingGroup> &all, const CaseRecord &record) {
    std::string what;
    for (const Evidence &evidence : record.evidence)
        if (what.empty()) what = evidence.fault_class;
    if (what.empty()) what = to_string(record.status);
    const auto found = std::find_if(all.begin(), all.end(), [&](const FindingGroup &one) { return one.what == what; });
    if (found != all.end()) return *found;
    all.push_back({std::move(what), {}, {}, nullptr});
    return all.back();
}

} // namespace

std::vector<FindingGroup> findings(const RunRecord &run) {
    std::vector<FindingGroup> all;
    for (const CaseRecord &record : run.cases) {
        if (!failed(record.status)) continue;
        FindingGroup &finding = group_of(all, record);
        finding.cases.push_back(&record);
        for (const Evidence &evidence : record.evidence)
            if (!evidence.tier.empty()) finding.tiers.push_back(evidence.tier);
        if (!finding.telling || weight(record) > weight(*finding.telling)) finding.telling = &record;
    }
    for (FindingGroup &finding : all) {
        std::sort(finding.tiers.begin(), finding.tiers.end());
        finding.tiers.erase(std::unique(finding.tiers.begin(), finding.tiers.end()), finding.tiers.end());
    }
    std::sort(all.begin(), all.end(), [](const FindingGroup &one, const FindingGroup &two) {
        if (one.cases.size() != two.cases.size()) return one.cases.size() > two.cases.size();
        return one.cases.front() < two.cases.front(); // in the order of the run
    });
    return all;
}

std::string example(const FindingGroup &finding) {
    const size_t more = finding.cases.size() - 1;
    return more ? fmt::format("{} and {} more", title(*finding.telling), more) : title(*finding.telling);
}

} // namespace hbf::conformance
