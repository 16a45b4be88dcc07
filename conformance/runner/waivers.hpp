// SPDX-License-Identifier: Apache-2.0
// Known failures, admitted for a while: who answers for each, why, and until when. A waived case still runs.
//
//     [[waiver]]
//     id = "W-12"
//     case = "dma.copy.*"                     # a glob; it must match a case
//     plugin = "acme"                         # optional glob: the plugin's name
//     device = "*X100*"                       # optional glob: the device's id or name
//     driver = ">=535.54 <550"                # optional: every comparison must hold
//     owner = "storage team"
//     reason = "guard bytes are overwritten by firmware 3"
//     issue = "https://example.org/issues/12"
//     expires = 2027-03-31                    # the last day it holds
//     must_fail = false                       # optional: true: it is expected to fail (xfail)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/runner/case_list.hpp"
#include "conformance/runner/record.hpp"

namespace hbf::conformance {

struct Waiver {
    std::string id, cases, plugin = "*", device = "*", driver, owner, reason, issue, expires; // expires: "2027-03-31"
    bool must_fail = false;
};

// The error has file, line and column. Refused: unknown keys, a missing or empty key, an id twice, no date, no comparison.
tl::expected<std::vector<Waiver>, std::string> parse_waivers(std::string_view text, const std::string &file);
tl::expected<std::vector<Waiver>, std::string> load_waivers(const std::string &path);

// "" or what is wrong: a waiver whose glob matches no case would hide a typing error.
std::string unmatched_waiver(const std::vector<Waiver> &waivers, const std::vector<CaseEntry> &cases);

struct WaiverFacts {
    std::string plugin, device_id, device_name, driver, today; // today: "2026-11-29"
};
WaiverFacts waiver_facts(const RunRecord &run, std::string today);

// A failure that a waiver covers becomes waived or xfail, a pass xpass; an expired waiver changes nothing, and a note says
// so. The suite's own errors are never waived.
void apply_waivers(CaseRecord &record, const std::vector<Waiver> &waivers, const WaiverFacts &facts);

// Does the version in `driver` ("nvidia 535.54.03") meet every comparison of "range"? One that cannot be told does not.
bool driver_in_range(std::string_view range, std::string_view driver);

} // namespace hbf::conformance
