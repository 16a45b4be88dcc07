// SPDX-License-Identifier: Apache-2.0
// Prometheus' text exposition format: https://prometheus.io/docs/instrumenting/exposition_formats/
#include <functional>

#include <fmt/format.h>

#include "tools/monitor/report.hpp"

namespace hbf::tools::monitor {
namespace {

std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string labels(const Snapshot &one, const std::string &more = "") {
    return fmt::format("{{pid=\"{}\",model=\"{}\",emulated=\"{}\"{}}}", one.pid, escaped(one.name), one.emulated(), more);
}

} // namespace

std::string report_metrics(const std::vector<Snapshot> &all) {
    std::string out;
    const auto family = [&](const std::string &name, std::string_view help, std::string_view type,
                            const std::function<void(const Snapshot &)> &each) {
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
        for (const Snapshot &one : all) each(one);
    };
    const auto tier_gauge = [&](const std::string &name, std::string_view help, auto value) {
        family(name, help, "gauge", [&](const Snapshot &one) {
            for (const TierNow &tier : one.tiers)
                out += fmt::format("{}{} {}\n", name, labels(one, fmt::format(",tier=\"{}\"", tier.name)), value(tier));
        });
    };
    for (size_t i = 0; i < static_cast<size_t>(observe::Counter::count); ++i) {
        const auto name = fmt::format("hbf_kv_{}_total", counter_name(i));
        family(name, counter_help(i), "counter",
               [&](const Snapshot &one) { out += fmt::format("{}{} {}\n", name, labels(one), one.counters[i]); });
    }
    tier_gauge("hbf_kv_capacity_bytes", "what the tier may hold", [](const TierNow &tier) { return tier.capacity; });
    tier_gauge("hbf_kv_used_bytes", "what the tier holds", [](const TierNow &tier) { return tier.used; });
    tier_gauge("hbf_kv_blocks", "blocks with a copy in the tier", [](const TierNow &tier) { return tier.blocks; });
    tier_gauge("hbf_kv_pinned_blocks", "blocks that may not leave the tier",
               [](const TierNow &tier) { return tier.pinned; });
    tier_gauge("hbf_kv_fragmentation_ratio", "of the free bytes, the share too small for the largest block",
               [](const TierNow &tier) { return tier.fragmentation(); });
    family("hbf_kv_sequences", "sequences that are open", "gauge", [&](const Snapshot &one) {
        out += fmt::format("hbf_kv_sequences{} {}\n", labels(one), one.scheduler.sequences);
    });
    family("hbf_kv_up", "1: the process runs; 0: it is stopped or gone", "gauge", [&](const Snapshot &one) {
        out += fmt::format("hbf_kv_up{} {}\n", labels(one), one.stopped() || one.gone() ? 0 : 1);
    });
    family("hbf_kv_lock_held_seconds", "how long a lock of the engine has been held, 0: it is free", "gauge",
           [&](const Snapshot &one) {
               for (const LockNow &lock : one.locks)
                   out += fmt::format("hbf_kv_lock_held_seconds{} {}\n",
                                      labels(one, fmt::format(",lock=\"{}\"", escaped(lock.name))), lock.held_seconds);
           });
    return out;
}

} // namespace hbf::tools::monitor
