// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/coherence.hpp"

#include <fmt/format.h>

#include "core/fabric/device_core.hpp"
#include "core/fabric/litmus.hpp"
#include "core/fabric/litmus_cache.hpp"

namespace hbf::fabric {
namespace {

const char *word(bool hardware) {
    return hardware ? "hardware" : "software";
}

// A tier of the domain in which the CPU can store and load, and the copy engine move.
std::optional<uint32_t> observable_tier(const DeviceCore &device, uint32_t domain) {
    for (const TierInfo &tier : device.tiers)
        if (tier.domain == domain && tier.cpu_access && tier.dma_access) return tier.index;
    return std::nullopt;
}

Result<LitmusReport> verify(DeviceCore &device, uint32_t index) {
    const DomainInfo &domain = device.domains[index];
    LitmusReport report;
    report.domain = domain.name;
    const auto refuse = [&](const LitmusRun &run, const char *between) {
        return fail(
            Code::data_loss,
            fmt::format("{}: coherence domain '{}' is declared {}, but {} of {} messages {} arrived stale{}; the device is "
                        "not opened, because its bytes could not be trusted",
                        device.label(), domain.name, word(domain.hardware), run.stale, run.trials, between,
                        domain.hardware ? " (observed: software)" : " in spite of flush and invalidate"));
    };
    const auto tier = observable_tier(device, index);
    if (!tier) {
        report.observed = "not observable: no tier of it is in reach of both CPU and copy engine";
        return report;
    }
    if (!domain.hardware && device.queue_info.max_commands < 6) {
        report.observed = "not observable: the queue takes too few commands for explicit coherence";
        return report;
    }
    const auto copied = through_copy_engine(device, *tier, !domain.hardware);
    if (!copied) return tl::unexpected(copied.error());
    if (copied->stale != 0) return refuse(*copied, "through the copy engine");
    if (!copied->not_observable.empty()) {
        report.observed = "not observable: " + copied->not_observable;
        return report;
    }
    report.trials = copied->trials;
    report.milliseconds = copied->milliseconds;
    if (domain.hardware && (domain.agents & HBF_AGENT_CPU) != 0) {
        const auto passed = between_cpus(device, *tier);
        if (!passed) return tl::unexpected(passed.error());
        if (passed->stale != 0) return refuse(*passed, "from CPU to CPU");
        report.trials += passed->trials;
        report.milliseconds += passed->milliseconds;
    }
    report.observed = word(domain.hardware);
    return report;
}

} // namespace

Result<std::vector<LitmusReport>> verify_coherence(DeviceCore &device, const LitmusKey &key) {
    std::vector<LitmusReport> reports;
    const LitmusCache cache(key, device.plugin);
    for (uint32_t i = 0; i < device.domains.size(); ++i) {
        const DomainInfo &domain = device.domains[i];
        const std::string subject = fmt::format("{} {} {}", device.label(), domain.name, word(domain.hardware));
        if (auto known = cache.find(subject)) {
            reports.push_back(std::move(*known));
            continue;
        }
        auto report = verify(device, i);
        if (!report) return tl::unexpected(report.error());
        if (report->trials != 0) cache.keep(subject, *report);
        reports.push_back(std::move(*report));
    }
    return reports;
}

} // namespace hbf::fabric
