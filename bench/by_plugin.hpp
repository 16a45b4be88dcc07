// SPDX-License-Identifier: Apache-2.0
// A plugin's device as a host has it, by the C tables alone, and what its batches cost: for rows that put a plugin beside
// the same calls by hand. Bursts, so that a driver's threads are woken once for many.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "bench/allocations.hpp"
#include "conformance/measure/clock.hpp"
#include "hbf/abi.h"

namespace hbf::bench {

inline constexpr uint64_t burst = 32, bursts = 64, copy_bytes = 4096;

// Batches of `copies` copies between two regions of its first tier.
class ByPlugin {
public:
    ByPlugin(const hbf_plugin &plugin, const char *device, uint64_t copies = 1, uint64_t batches = burst)
        : per_burst(batches), plugin_(plugin) {
        hbf_create_in in{};
        in.struct_size = sizeof in;
        in.device_id = {device, std::strlen(device)};
        require(plugin.create(&in, &instance_, &error_), "create");
        tiers_ = static_cast<const hbf_tier_ext *>(plugin.get_extension(instance_, text(HBF_EXT_TIER)));
        queues_ = static_cast<const hbf_queue_ext *>(plugin.get_extension(instance_, text(HBF_EXT_QUEUE)));
        hbf_queue_desc desc{};
        desc.struct_size = sizeof desc;
        require(queues_->create(instance_, &desc, &queue_, &error_), "create queue");
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        const hbf_region to = allocate(copies * copy_bytes), from = allocate(copies * copy_bytes);
        for (uint64_t at = 0; at < copies * copy_bytes; at += copy_bytes) {
            command.u.copy = {to, at, from, at, copy_bytes, nullptr};
            commands_.push_back(command);
        }
    }
    ~ByPlugin() { plugin_.destroy(instance_); }
    ByPlugin(const ByPlugin &) = delete;
    ByPlugin &operator=(const ByPlugin &) = delete;

    void run_burst() {
        const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands_.data(), commands_.size()};
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        uint64_t last = 0;
        for (uint64_t i = 0; i < per_burst; ++i) require(queues_->submit(queue_, &batch, &last, &error_), "submit");
        require(queues_->wait(queue_, last, UINT64_MAX, &error_), "wait");
        if (queues_->poll(queue_, &progress) != HBF_OK || progress.completed != last || progress.failed != 0)
            throw std::runtime_error(fmt::format("a copy through the plugin {} failed", plugin_.name));
    }

    const uint64_t per_burst;

private:
    static hbf_string text(const char *of) { return {of, std::strlen(of)}; }
    void require(hbf_status status, const char *what) const {
        if (status != HBF_OK) throw std::runtime_error(fmt::format("{}: {}", what, error_.message ? error_.message : ""));
    }
    hbf_region allocate(uint64_t size) {
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.size = size;
        hbf_region_info info{};
        info.struct_size = sizeof info;
        require(tiers_->alloc(instance_, &desc, &info, &error_), "allocate");
        return info.region;
    }

    const hbf_plugin &plugin_;
    char message_[256] = {};
    hbf_error error_{sizeof(hbf_error), 0, message_, sizeof message_, 0, 0, 0};
    hbf_instance *instance_ = nullptr;
    const hbf_tier_ext *tiers_ = nullptr;
    const hbf_queue_ext *queues_ = nullptr;
    hbf_queue *queue_ = nullptr;
    std::vector<hbf_command> commands_;
};

// Of a batch, in the median burst: most are not interrupted.
template <class Side>
double nanoseconds(Side &side) {
    std::array<double, bursts> taken;
    for (double &one : taken) {
        const auto begin = measure::Clock::now();
        side.run_burst();
        one = measure::seconds_between(begin, measure::Clock::now()) / static_cast<double>(side.per_burst) * 1e9;
    }
    std::nth_element(taken.begin(), taken.begin() + bursts / 2, taken.end());
    return taken[bursts / 2];
}

// Of a batch, in the burst with fewest: now and then a driver, on either side, needs an event more than it has at hand.
template <class Side>
double allocations_of(Side &side) {
    uint64_t fewest = UINT64_MAX;
    for (uint64_t i = 0; i < bursts; ++i) {
        const auto before = allocations_of_thread();
        side.run_burst();
        fewest = std::min(fewest, allocations_of_thread() - before);
    }
    return static_cast<double>(fewest) / static_cast<double>(side.per_burst);
}

} // namespace hbf::bench
