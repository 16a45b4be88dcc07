// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/summary.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace hbf::conformance {
namespace {

void append(std::string &out, std::string text) {
    if (!out.empty()) out += ", ";
    out += text;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
    return text;
}

std::string bit_list(uint64_t difference) {
    const int count = std::popcount(difference);
    std::string out;
    if (count > 4) return fmt::format("differ in {} bits", count);
    for (; difference; difference &= difference - 1) append(out, std::to_string(std::countr_zero(difference)));
    return fmt::format("differ in bit{} {}", count == 1 ? "" : "s", out);
}

} // namespace

std::string headline(const RunRecord &run) {
    return fmt::format("{}: {}", upper(run.verdict), run.verdict_reason);
}

std::vector<std::string> banners(const RunRecord &run) {
    std::vector<std::string> out;
    if (run.emulated) out.emplace_back("EMULATED device: nothing here is a statement about hardware");
    if (!run.inject.empty()) {
        std::string faults;
        for (const auto &[key, value] : run.inject) append(faults, value.empty() ? key : fmt::format("{}={}", key, value));
        out.push_back("FAULTS INJECTED on purpose: " + faults);
    }
    if (run.interrupted) out.emplace_back("INTERRUPTED: the cases that are missing were not run");
    return out;
}

std::string fact(const Facts &facts, const std::string &key) {
    for (const auto &[name, value] : facts)
        if (name == key) return value;
    return {};
}

std::string subject_line(const RunRecord &run) {
    std::string out = fmt::format("plugin {} {}", fact(run.plugin, "name"), fact(run.plugin, "version"));
    if (const std::string hash = fact(run.plugin, "sha256"); !hash.empty()) out += fmt::format(" (sha256 {:.12})", hash);
    out += fmt::format(", device {}", fact(run.device, "id"));
    if (const std::string name = fact(run.device, "name"); !name.empty()) out += ": " + name;
    if (run.emulated) out += " (emulated)";
    return out;
}

std::vector<const CaseRecord *> troubled(const RunRecord &run) {
    std::vector<const CaseRecord *> out;
    for (const CaseRecord &record : run.cases)
        if (!conformant(record.status)) out.push_back(&record);
    std::stable_partition(out.begin(), out.end(), [](const CaseRecord *record) { return failed(record->status); });
    return out;
}

std::string title(const CaseRecord &record) {
    return record.mask.empty() ? record.name : fmt::format("{} [hidden: {}]", record.name, record.mask);
}

std::string place(const Evidence &evidence) {
    std::string out;
    if (!evidence.tier.empty()) append(out, "tier " + evidence.tier);
    if (evidence.region)
        append(out, fmt::format("region {:#x}, offset {} ({:#x})", evidence.region, evidence.offset, evidence.offset));
    if (evidence.address) append(out, fmt::format("address {:#x}", evidence.address));
    if (evidence.wrong_bytes) append(out, fmt::format("{} bytes wrong", evidence.wrong_bytes));
    return out;
}

std::string bytes(const Evidence &evidence) {
    if (evidence.width == 0) return {};
    const int digits = static_cast<int>(2 * std::min(evidence.width, 8u)) + 2;
    std::string out = fmt::format("expected {:#0{}x}, actual {:#0{}x}", evidence.expected, digits, evidence.actual, digits);
    if (const uint64_t difference = evidence.expected ^ evidence.actual) out += fmt::format(" ({})", bit_list(difference));
    return out;
}

std::map<std::string, GroupCount> count_groups(const RunRecord &run) {
    std::map<std::string, GroupCount> out;
    for (const CaseRecord &record : run.cases) {
        GroupCount &group = out[record.name.substr(0, record.name.find('.'))];
        ++group.by_status[record.status];
        ++group.total;
        group.seconds += record.duration_s + record.overhead_s;
    }
    return out;
}

std::vector<std::string> grown_counters(const RunRecord &run) {
    std::vector<std::string> out;
    for (const auto &[name, after] : run.health_after) {
        const auto before = std::find_if(run.health_before.begin(), run.health_before.end(),
                                         [&wanted = name](const auto &entry) { return entry.first == wanted; });
        if (before != run.health_before.end() && after > before->second)
            out.push_back(fmt::format("{}: {} -> {}", name, before->second, after));
    }
    return out;
}

std::vector<std::string> preflight_failures(const RunRecord &run) {
    std::vector<std::string> out;
    for (const PreflightFinding &finding : run.preflight.findings)
        if (finding.verdict == "fail") out.push_back(fmt::format("{}: {}", finding.id, finding.found));
    return out;
}

} // namespace hbf::conformance
