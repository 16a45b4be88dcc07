// SPDX-License-Identifier: Apache-2.0
#include "core/loader/decide.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace hbf::loader {
namespace {

bool is_selected(const Entry &entry) {
    return entry.viable && entry.candidate.reason == Reason::selected;
}

void choose(Entry &entry, std::map<std::string, const Entry *> &by_name, const Entry *first_real) {
    Candidate &candidate = entry.candidate;
    candidate.stage = std::max(candidate.stage, Stage::rank);
    const auto [at, first_of_its_name] = by_name.emplace(candidate.name, &entry);
    if (!first_of_its_name) {
        const Candidate &better = at->second->candidate;
        candidate.reason = Reason::duplicate_name;
        candidate.detail = fmt::format(
            "version {} of the same name ranks before it: {}; remedy: remove one of them, or give them names of their own",
            better.version, better.manifest.string());
    } else if (entry.rank.emulated && first_real && !candidate.pinned) {
        candidate.reason = Reason::outranked;
        candidate.detail =
            fmt::format("by {} {}: no emulation serves beside a real device unless it is pinned (plugins.pin)",
                        first_real->candidate.name, first_real->candidate.version);
    } else {
        candidate.reason = Reason::selected;
        candidate.detail = fmt::format("{} device{}{}", candidate.devices.size(), candidate.devices.size() == 1 ? "" : "s",
                                       entry.rank.emulated ? ", emulated" : "");
    }
}

// Selected ones first, then those that could have served, then the refused in the order they were found.
int group_of(const Entry &entry) {
    return is_selected(entry) ? 0 : entry.viable ? 1 : 2;
}

bool is_better_excuse(const Entry &a, const Entry &b) {
    return a.candidate.stage > b.candidate.stage;
}

} // namespace

void decide(std::vector<Entry> &entries) {
    std::vector<Entry *> viable;
    for (Entry &entry : entries) {
        if (entry.viable) viable.push_back(&entry);
    }
    std::sort(viable.begin(), viable.end(), [](const Entry *a, const Entry *b) { return ranks_before(a->rank, b->rank); });
    const auto real = std::find_if(viable.begin(), viable.end(), [](const Entry *entry) { return !entry->rank.emulated; });
    const Entry *const first_real = real == viable.end() ? nullptr : *real;
    std::map<std::string, const Entry *> by_name;
    for (Entry *entry : viable) choose(*entry, by_name, first_real);
    std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        const int group = group_of(a);
        if (group != group_of(b)) return group < group_of(b);
        return group < 2 ? ranks_before(a.rank, b.rank) : a.rank.found_index < b.rank.found_index;
    });
}

Result<> check_pins(const std::vector<Entry> &entries, const NameList &pins) {
    for (const std::string &name : pins.names) {
        const Entry *best = nullptr;
        bool met = false;
        for (const Entry &entry : entries) {
            if (entry.candidate.name != name) continue;
            met = met || is_selected(entry);
            if (!best || is_better_excuse(entry, *best)) best = &entry;
        }
        if (met) continue;
        const Candidate none, &candidate = best ? best->candidate : none;
        return fail(Code::unavailable,
                    fmt::format("{}: the pinned plugin \"{}\" cannot serve: {} ({}): {}", pins.where, name,
                                to_string(candidate.reason), to_string(candidate.stage), candidate.detail));
    }
    return {};
}

} // namespace hbf::loader
