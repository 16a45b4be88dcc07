// SPDX-License-Identifier: Apache-2.0
#include "core/loader/decide.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace hbf::loader {
namespace {

bool is_selected(const Entry &entry) {
    return entry.viable && entry.candidate.reason == Reason::selected;
}

bool serves(const ProbedDevice &device) {
    return device.reason == Reason::selected;
}

std::string devices_text(const Entry &entry) {
    const auto &devices = entry.candidate.devices;
    const auto serving = std::count_if(devices.begin(), devices.end(), serves);
    std::string text =
        fmt::format("{} device{}{}{}", serving, serving == 1 ? "" : "s", entry.rank.emulated ? ", emulated" : "",
                    entry.rank.on_cpu ? ", run by this machine's CPUs and no accelerator" : "");
    for (const ProbedDevice &device : devices)
        if (!serves(device)) text += fmt::format("; not {}: {}: {}", device.id, to_string(device.reason), device.detail);
    return text;
}

// False: none of its devices serves.
bool outrank_cpus(Candidate &candidate, const Entry *first_direct) {
    for (ProbedDevice &device : candidate.devices) { // decided anew where one of those before it did not open
        if (device.reason != Reason::outranked) continue;
        device.reason = Reason::selected;
        device.detail.clear();
    }
    if (candidate.pinned || !first_direct) return true;
    for (ProbedDevice &device : candidate.devices) {
        if (!serves(device) || !device.on_cpu) continue;
        device.reason = Reason::outranked;
        device.detail =
            fmt::format("by {} {}: these are this machine's CPUs and no accelerator, and they do not serve beside "
                        "a real device unless their plugin is pinned (plugins.pin)",
                        first_direct->candidate.name, first_direct->candidate.version);
    }
    rank_devices(candidate.devices);
    return candidate.devices.empty() || serves(candidate.devices.front());
}

void choose(Entry &entry, std::map<std::string, const Entry *> &by_name, const Entry *first_real,
            const Entry *first_direct) {
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
    } else if (!outrank_cpus(candidate, first_direct)) {
        candidate.reason = Reason::outranked;
        candidate.detail = candidate.devices.front().detail;
    } else {
        candidate.reason = Reason::selected;
        candidate.detail = devices_text(entry);
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

void rank_devices(std::vector<ProbedDevice> &devices) {
    const auto key = [](const ProbedDevice &device) {
        return std::tuple(device.reason != Reason::selected, device.emulated, device.on_cpu);
    };
    std::stable_sort(devices.begin(), devices.end(),
                     [&](const ProbedDevice &a, const ProbedDevice &b) { return key(a) < key(b); });
}

void decide(std::vector<Entry> &entries) {
    std::vector<Entry *> viable;
    for (Entry &entry : entries) {
        if (entry.viable) viable.push_back(&entry);
    }
    std::sort(viable.begin(), viable.end(), [](const Entry *a, const Entry *b) { return ranks_before(a->rank, b->rank); });
    const auto real = std::find_if(viable.begin(), viable.end(), [](const Entry *entry) { return !entry->rank.emulated; });
    const Entry *const first_real = real == viable.end() ? nullptr : *real;
    const auto direct = std::find_if(viable.begin(), viable.end(),
                                     [](const Entry *entry) { return !entry->rank.emulated && !entry->rank.on_cpu; });
    const Entry *const first_direct = direct == viable.end() ? nullptr : *direct;
    std::map<std::string, const Entry *> by_name;
    for (Entry *entry : viable) choose(*entry, by_name, first_real, first_direct);
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
