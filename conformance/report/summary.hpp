// SPDX-License-Identifier: Apache-2.0
// What all reports say in the same words: the headline, the cases that did not pass, where a byte was wrong.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

std::string headline(const RunRecord &run); // "NOT CONFORMANT: 2 of 112 cases failed"
// What must stand above everything: "EMULATED device: ...", "FAULTS INJECTED: ...", "INTERRUPTED: ...".
std::vector<std::string> banners(const RunRecord &run);
std::string subject_line(const RunRecord &run); // "plugin host 0.1.0 (sha256 12ab...), device host0: AMD EPYC"

// Cases that failed first, then those that could not decide; in the order of the run. Warnings are not among them.
std::vector<const CaseRecord *> troubled(const RunRecord &run);
std::string title(const CaseRecord &record); // the name, and "[hidden: cancel, crc]" in a masked run

std::string place(const Evidence &evidence); // "tier dram0, region 0x100000001, offset 4096, address 0x7f..."
std::string bytes(const Evidence &evidence); // "expected 0x5a, actual 0x1a (differ in bit 6)", "" where nothing is known

struct GroupCount {
    std::map<Status, size_t> by_status;
    double seconds = 0;
    size_t total = 0;
};
std::map<std::string, GroupCount> count_groups(const RunRecord &run); // group of a case: its name up to the first dot
std::string fact(const Facts &facts, const std::string &key);         // "" if there is none

// Counters that grew during the run: "edac.mc0.ce_count: 0 -> 3".
std::vector<std::string> grown_counters(const RunRecord &run);

// "iommu.translation: addresses of ... are translated": what the checks before the run found to fail.
std::vector<std::string> preflight_failures(const RunRecord &run);

} // namespace hbf::conformance
