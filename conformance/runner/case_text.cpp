// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_text.hpp"

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/output/size.hpp"

namespace hbf::conformance {

std::string text_of(const Evidence &evidence) {
    std::string out = evidence.fault_class.empty() ? "evidence" : evidence.fault_class;
    if (!evidence.tier.empty()) out += " in " + evidence.tier;
    if (evidence.region) out += fmt::format(", region {:#x} offset {:#x}", evidence.region, evidence.offset);
    if (evidence.address) out += fmt::format(" (address {:#x})", evidence.address);
    if (evidence.width) {
        const int digits = static_cast<int>(evidence.width) * 2;
        out += fmt::format(": expected 0x{:0{}x}, found 0x{:0{}x}, xor 0x{:0{}x}", evidence.expected, digits,
                           evidence.actual, digits, evidence.expected ^ evidence.actual, digits);
    }
    if (evidence.wrong_bytes) out += fmt::format("; {} wrong bytes in all", evidence.wrong_bytes);
    if (!evidence.detail.empty()) out += "; " + printable(evidence.detail);
    return out;
}

std::string text_of(const Metric &metric) {
    std::string out = fmt::format("{} {:.6g} {}", metric.name, metric.value, metric.unit);
    if (metric.low != 0 || metric.high != 0) out += fmt::format(", 95 % in {:.6g}..{:.6g}", metric.low, metric.high);
    if (metric.samples.size() > 1) out += fmt::format(" ({} samples)", metric.samples.size());
    return out;
}

std::string text_of(const CaseRecord &record) {
    std::string out = fmt::format("{}: {}", record.name, to_string(record.status));
    if (!record.reason.empty()) out += ": " + printable(record.reason);
    out += fmt::format("\n  {} checks in {}, seed {:#x}", record.checks, format_duration(record.duration_s), record.seed);
    if (!record.mask.empty()) out += ", without " + record.mask;
    if (!record.waiver.empty()) out += ", waiver " + printable(record.waiver);
    out += '\n';
    for (const auto &evidence : record.evidence) out += "  " + text_of(evidence) + "\n";
    for (const auto &metric : record.metrics) out += "  " + text_of(metric) + "\n";
    for (const auto &series : record.series) {
        out += fmt::format("  {} ({}): {} points\n", series.name, series.kind, series.points.size());
    }
    for (const auto &note : record.notes) out += "  note: " + printable(note) + "\n";
    if (!record.replay.empty()) out += "  again: " + record.replay + "\n";
    std::string_view log = record.log;
    while (!log.empty()) {
        const auto line = log.substr(0, log.find('\n'));
        out += "  | " + printable(line) + "\n";
        log.remove_prefix(std::min(log.size(), line.size() + 1));
    }
    return out;
}

} // namespace hbf::conformance
