// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/diff.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "conformance/report/summary.hpp"

namespace hbf::conformance {
namespace {

// Bytes and events in a time: more is better. A time, an error: less is.
enum class Better { more, less, neither };
Better direction(const Metric &metric) {
    const auto ends = [&](std::string_view end) { return metric.unit.ends_with(end); };
    if (ends("/s")) return Better::more;
    if (metric.unit == "ns" || metric.unit == "us" || metric.unit == "ms" || metric.unit == "s" || metric.unit == "errors")
        return Better::less;
    return Better::neither;
}

using Key = std::pair<std::string, std::string>; // name and what was hidden
std::map<Key, const CaseRecord *> by_name(const RunRecord &run) {
    std::map<Key, const CaseRecord *> out;
    for (const CaseRecord &record : run.cases) out.try_emplace({record.name, record.mask}, &record);
    return out;
}

void compare_facts(std::vector<Difference> &out, const char *prefix, const Facts &before, const Facts &after) {
    for (const auto &[key, value] : before)
        if (const std::string now = fact(after, key); now != value) out.push_back({prefix + key, value, now});
    for (const auto &[key, value] : after)
        if (fact(before, key).empty() && !value.empty() &&
            std::none_of(before.begin(), before.end(), [&wanted = key](const auto &entry) { return entry.first == wanted; }))
            out.push_back({prefix + key, "", value});
}

Change status_change(Status before, Status after) {
    const auto rank = [](Status status) { return failed(status) ? 0 : !conformant(status) ? 1 : 2; };
    if (rank(before) != rank(after)) return rank(after) < rank(before) ? Change::worse : Change::better;
    // What was tested and is not any more: a capability went.
    const auto tested = [](Status status) { return status != Status::not_supported && status != Status::not_observable; };
    if (tested(before) != tested(after)) return tested(before) ? Change::worse : Change::better;
    return Change::other;
}

void compare_figures(Comparison &out, const CaseRecord &before, const CaseRecord &after, double tolerance) {
    for (const Metric &old : before.metrics) {
        const auto found = std::find_if(after.metrics.begin(), after.metrics.end(), [&](const Metric &metric) {
            return metric.name == old.name && metric.unit == old.unit;
        });
        if (found == after.metrics.end()) continue;
        const auto ratio = ratio_of(old, *found);
        if (!ratio) {
            ++out.figures_without_interval;
            continue;
        }
        ++out.compared_figures;
        const bool up = ratio->low > 1 + tolerance, down = ratio->high < 1 - tolerance;
        if (!up && !down) continue;
        const Better better = direction(old);
        const Change change = better == Better::neither        ? Change::other
                              : (better == Better::more) == up ? Change::better
                                                               : Change::worse;
        out.figures.push_back(
            {fmt::format("{}: {}", title(before), old.name), fmt::format("{:.5g} {}", old.value, old.unit),
             fmt::format("{:.5g} {}", found->value, found->unit), change,
             fmt::format("ratio {:.4f}, at least 90 % in {:.4f} .. {:.4f}", ratio->middle, ratio->low, ratio->high)});
    }
}

} // namespace

std::optional<Ratio> ratio_of(const Metric &before, const Metric &after) {
    const auto known = [](const Metric &metric) {
        return metric.low > 0 && metric.low <= metric.value && metric.value <= metric.high;
    };
    if (!known(before) || !known(after)) return std::nullopt;
    return Ratio{after.value / before.value, after.low / before.high, after.high / before.low};
}

bool Comparison::worse() const {
    const auto is_worse = [](const Difference &difference) { return difference.change == Change::worse; };
    return std::any_of(cases.begin(), cases.end(), is_worse) || std::any_of(figures.begin(), figures.end(), is_worse);
}

Comparison compare(const RunRecord &before, const RunRecord &after, double tolerance) {
    Comparison out;
    compare_facts(out.setting, "plugin.", before.plugin, after.plugin);
    compare_facts(out.setting, "device.", before.device, after.device);
    compare_facts(out.setting, "limits.", before.limits, after.limits);
    compare_facts(out.setting, "host.", before.host, after.host);
    const auto differ = [&](const char *what, const std::string &a, const std::string &b) {
        if (a != b) out.setting.push_back({what, a, b});
    };
    differ("profile", before.profile, after.profile);
    differ("suite", before.suite_version, after.suite_version);
    differ("interrupted", before.interrupted ? "yes" : "no", after.interrupted ? "yes" : "no");
    compare_facts(out.setting, "inject.", before.inject, after.inject);

    const auto old_cases = by_name(before), new_cases = by_name(after);
    for (const auto &[key, old] : old_cases) {
        const auto found = new_cases.find(key);
        if (found == new_cases.end()) {
            // A case that is not there says nothing; one that failed is not mended by that either.
            out.cases.push_back({title(*old), std::string(to_string(old->status)), "not in the run", Change::other});
            continue;
        }
        ++out.common_cases;
        const CaseRecord &now = *found->second;
        if (now.status != old->status)
            out.cases.push_back({title(*old), std::string(to_string(old->status)), std::string(to_string(now.status)),
                                 status_change(old->status, now.status), now.reason});
        // Figures of a case that failed are of bytes that did not arrive.
        if (!failed(old->status) && !failed(now.status)) compare_figures(out, *old, now, tolerance);
    }
    for (const auto &[key, now] : new_cases)
        if (!old_cases.contains(key))
            out.cases.push_back({title(*now), "not in the run", std::string(to_string(now->status)),
                                 failed(now->status) ? Change::worse : Change::other, now->reason});
    return out;
}

int exit_code(const Comparison &comparison) {
    if (comparison.common_cases == 0) return 3;
    return comparison.worse() ? 1 : 0;
}

} // namespace hbf::conformance
