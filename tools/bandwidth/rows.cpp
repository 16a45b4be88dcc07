// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/rows.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/common/suggest.hpp"

namespace hbf::tools::bandwidth {
namespace {

bool device_matches(const Place &place, const std::string &wanted) {
    const std::string plugin = place.plugin.substr(0, place.plugin.find(' '));
    return wanted.empty() || wanted == place.device_name || wanted == plugin || wanted == std::to_string(place.device);
}

std::optional<size_t> first_memory(const Machine &machine, size_t device) {
    const auto &places = machine.places();
    for (size_t i = 0; i < places.size(); ++i) {
        if (places[i].device == device && !is_storage(places[i].tier)) return i;
    }
    return std::nullopt;
}

void add_pair(std::vector<RowSpec> &rows, size_t a, size_t b) {
    using Direction = RowSpec::Direction;
    const char *beside = "while the other direction runs";
    rows.push_back({.src = a, .dst = b, .what = beside, .direction = Direction::forward});
    rows.push_back({.src = b, .dst = a, .what = beside, .direction = Direction::backward});
    rows.push_back({.src = a, .dst = b, .what = "sum of both directions", .direction = Direction::both});
}

// By the kernels that the device of both places has.
std::vector<RowSpec> kernel_rows(const Machine &machine, size_t src, size_t dst) {
    const Place &from = machine.places()[src], &to = machine.places()[dst];
    if (from.device != to.device || !from.tier.device_access || !to.tier.device_access) return {};
    const auto known = machine.kernels(from.device);
    std::vector<RowSpec> rows;
    for (const auto work : {measure::Work::kernel_copy, measure::Work::kernel_triad, measure::Work::kernel_read}) {
        if (std::find(known.begin(), known.end(), kernel_of(work)) == known.end()) continue;
        if (work == measure::Work::kernel_read && src != dst) continue;
        rows.push_back({.src = src, .dst = dst, .work = work});
        if (work == measure::Work::kernel_triad) rows.back().what = "reads two streams, writes one";
        if (work == measure::Work::kernel_read) rows.back().what = "reads only";
    }
    return rows;
}

template <class Known>
tl::unexpected<std::string> unknown(const char *what, const std::string &name, const Known &known) {
    return tl::unexpected(
        fmt::format("unknown {} '{}'{}; this host has: {}", what, name, did_you_mean(name, known), fmt::join(known, ", ")));
}

} // namespace

bool is_storage(const TierInfo &tier) {
    return !tier.cpu_access && !tier.device_access &&
           (tier.media == HBF_MEDIA_BLOCK || tier.media == HBF_MEDIA_FILE || tier.media == HBF_MEDIA_OBJECT);
}

std::string_view kernel_of(measure::Work work) {
    switch (work) {
    case measure::Work::copy:
        return "";
    case measure::Work::kernel_copy:
        return "copy/1";
    case measure::Work::kernel_triad:
        return "triad/1";
    case measure::Work::kernel_read:
        return "pattern_verify/1";
    }
    return "";
}

std::string kind_name(TierKind kind) {
    switch (kind) {
    case TierKind::hbm:
        return "hbm";
    case TierKind::hbf:
        return "hbf";
    case TierKind::cold:
        return "cold";
    }
    return fmt::format("kind {}", static_cast<uint32_t>(kind));
}

std::string media_name(uint32_t media) {
    switch (media) {
    case HBF_MEDIA_HBM:
        return "HBM";
    case HBF_MEDIA_DRAM:
        return "DRAM";
    case HBF_MEDIA_CXL:
        return "CXL";
    case HBF_MEDIA_PEER:
        return "peer";
    case HBF_MEDIA_PINNED:
        return "pinned";
    case HBF_MEDIA_BLOCK:
        return "block";
    case HBF_MEDIA_FILE:
        return "file";
    case HBF_MEDIA_OBJECT:
        return "object";
    default:
        return "media unknown";
    }
}

std::string label(const Machine &machine, size_t place) {
    const auto &p = machine.places()[place];
    bool several =
        std::any_of(machine.places().begin(), machine.places().end(), [&](const Place &o) { return o.device != p.device; });
    return fmt::format("{}{} ({}, {}, node {})", several ? p.device_name + ":" : "", p.tier.name, kind_name(p.tier.kind),
                       media_name(p.tier.media), p.tier.numa_node < 0 ? "unknown" : std::to_string(p.tier.numa_node));
}

std::vector<RowSpec> executor_rows(const Machine &machine, const std::vector<RowSpec> &rows) {
    std::vector<RowSpec> out;
    for (const auto &row : rows) {
        for (const auto &node : machine.inventory().nodes) {
            if (node.cpus.empty()) continue;
            out.push_back(row);
            out.back().executor_node = node.id;
            out.back().what = fmt::format("executor on node {}", node.id);
        }
    }
    return out;
}

tl::expected<std::vector<RowSpec>, std::string> choose_rows(const Machine &machine, const Options &options) {
    const auto &places = machine.places();
    std::vector<std::string> known{"hbm", "hbf", "cold"}, devices;
    for (const auto &place : places) {
        if (std::find(devices.begin(), devices.end(), place.device_name) == devices.end())
            devices.push_back(place.device_name);
        known.push_back(place.tier.name);
    }
    auto on_device = [&](const Place &place) { return device_matches(place, options.device); };
    if (!options.device.empty() && std::none_of(places.begin(), places.end(), on_device)) {
        return unknown("device", options.device, devices);
    }
    std::vector<bool> wanted(places.size(), options.tiers.empty());
    for (const auto &name : options.tiers) {
        // A kind that this host has no tier of is no mistake: there is nothing to test.
        bool found = name == "hbm" || name == "hbf" || name == "cold";
        for (size_t i = 0; i < places.size(); ++i) {
            if (places[i].tier.name != name && kind_name(places[i].tier.kind) != name) continue;
            wanted[i] = found = true;
        }
        if (!found) return unknown("tier", name, known);
    }
    std::vector<RowSpec> rows;
    auto add = [&](RowSpec row) {
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    };
    for (size_t i = 0; i < places.size(); ++i) {
        if (!wanted[i] || !on_device(places[i])) continue;
        if (options.bidirectional) {
            for (size_t j = i + 1; j < places.size(); ++j) {
                if (wanted[j] && on_device(places[j])) add_pair(rows, i, j);
            }
        } else if (options.matrix) {
            for (size_t j = 0; j < places.size(); ++j) {
                if (!wanted[j] || !on_device(places[j])) continue;
                add({i, j});
                for (auto &row : kernel_rows(machine, i, j)) add(std::move(row));
            }
        } else if (!is_storage(places[i].tier)) {
            add({i, i});
        } else if (auto memory = first_memory(machine, places[i].device)) {
            add({*memory, i});
            add({i, *memory});
        } else {
            add({i, i});
        }
    }
    return rows;
}

} // namespace hbf::tools::bandwidth
