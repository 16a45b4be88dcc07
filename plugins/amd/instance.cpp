// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/instance.hpp"

#include <utility>

#include <fmt/format.h>

#include "plugins/amd/kernels/loader.hpp"
#include "plugins/amd/on_device.hpp"
#include "plugins/amd/queue/hip_stream.hpp"

namespace hbf::amd {
namespace {

uint64_t free_memory(const DeviceFacts &facts) {
    const OnDevice here(facts.ordinal);
    check(here.code(), "hipSetDevice");
    size_t free = 0, total = 0;
    check(library().hip.MemGetInfo(&free, &total), "hipMemGetInfo");
    return free;
}

// Deeper than others': over PCIe and xGMI from here a copy is on its way for longer, so more of them are kept under way.
constexpr stream::QueueLimits limits{.usual_depth = 128};

} // namespace

AmdInstance::AmdInstance(const DeviceFacts &facts, const Found &found, const Survey &all, const AmdOptions &options,
                         const std::string &root, const sdk::Log &log)
    : facts_(facts) {
    set_limits(limits);
    std::string why;
    health_ = Health::open(facts.pci_address, why);
    if (!health_)
        log.info(fmt::format("{}: no health counters: {}", found.info.id, why));
    else if (const std::string partitions = health_->partitions(); !partitions.empty())
        log.info(fmt::format("{}: partitions: {}", found.info.id, partitions));
    auto kernels = std::make_unique<stream::KernelTable>(std::make_unique<Loader>(facts, log));
    Means means{.device = facts_, .numa_node = found.info.numa_node, .free = free_memory(facts), .host = {}, .peers = {}};
    means.devices = all.devices.size();
    means.host = host_memory(root, log);
    if (options.peers) {
        std::vector<PeerCandidate> others;
        for (const Found &other : all.devices)
            if (other.ordinal != facts.ordinal) others.push_back({other.ordinal, other.info.id});
        means.peers = find_peers(facts, others, kernels.get(), log);
    }
    tiers_ = std::make_unique<Tiers>(facts, plan_tiers(means, options), log);
    serve_kernels(std::move(kernels));
}

AmdInstance::~AmdInstance() {
    end();
}

std::unique_ptr<stream::StreamApi> AmdInstance::make_stream() {
    return std::make_unique<HipStream>(facts_.ordinal);
}

} // namespace hbf::amd
