// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::amd {
namespace {

constexpr uint64_t unit = 2 << 20;

uint64_t whole(uint64_t bytes) {
    return bytes / unit * unit;
}

std::string human(uint64_t bytes) {
    const double mib = static_cast<double>(bytes) / (1 << 20);
    return mib >= 1024 ? fmt::format("{:.1f} GiB", mib / 1024) : fmt::format("{:.0f} MiB", mib);
}

class Planner {
public:
    Planner(const Means &means, const AmdOptions &options) : means_(means), options_(options) {}

    std::vector<Tier> run() {
        hbm();
        if (options_.cxl)
            for (const CxlNode &node : means_.host.cxl) cxl(node);
        for (const Peer &peer : means_.peers) this->peer(peer);
        host();
        need(options_.cxl_bytes, Sort::cxl, "cxl_bytes", "this machine shows no CXL memory");
        need(options_.peer_bytes, Sort::peer, "peer_bytes", "no other device's memory can be reached");
        return tiers_;
    }

private:
    void add(Tier tier) {
        tier.capacity = whole(tier.capacity);
        if (tier.capacity == 0) return;
        tiers_.push_back(std::move(tier));
    }

    void need(uint64_t bytes, Sort sort, const char *option, const char *why) const {
        if (bytes != 0 && std::none_of(tiers_.begin(), tiers_.end(), [&](const Tier &one) { return one.sort == sort; }))
            sdk::fail(HBF_UNSUPPORTED, fmt::format("option {}: {}", option, why));
    }

    // Two alike have one number in the name, all others 0: "peer1" is HIP device 1, "cxl2" NUMA node 2.
    void hbm() {
        Tier tier{Sort::hbm, "hbm0", HBF_TIER_HBM, HBF_MEDIA_HBM, HBF_DOMAIN_NONE, options_.hbm_class};
        tier.owner = means_.device.ordinal;
        tier.node = means_.numa_node;
        const uint64_t most = whole(means_.free / 32 * 31); // pages of tables, queues and code objects need the rest
        if (options_.hbm_bytes > means_.free)
            sdk::fail(HBF_INVALID, fmt::format("option hbm_bytes: {} bytes, of which {} has {} free", options_.hbm_bytes,
                                               means_.device.name, means_.free));
        tier.capacity = options_.hbm_bytes ? options_.hbm_bytes : most;
        tier.detail = fmt::format("{} memory of the device ({} free), {}; {}, XNACK {}", name_of(tier.coherence),
                                  human(means_.free), means_.device.integrated ? "shared with the CPUs" : "its own",
                                  means_.device.svm ? "HMM" : "no HMM", means_.device.xnack ? "on" : "off");
        add(std::move(tier));
    }

    void cxl(const CxlNode &node) {
        Tier tier{Sort::cxl, fmt::format("cxl{}", node.id), HBF_TIER_HBF, HBF_MEDIA_CXL, cxl_domain, CoherenceClass::fine};
        tier.node = node.id;
        tier.placed = node.placed;
        tier.degraded = !node.placed;
        tier.capacity = options_.cxl_bytes ? std::min(options_.cxl_bytes, node.bytes) : node.bytes / means_.devices;
        tier.detail = fmt::format("CXL memory of the host, NUMA node {}, registered with the device; {}", node.id,
                                  node.placed ? "pages are bound to the node and looked up"
                                              : "pages are not bound to the node: " + node.why);
        add(std::move(tier));
    }

    void peer(const Peer &peer) {
        Tier tier{Sort::peer,      fmt::format("peer{}", peer.ordinal),
                  HBF_TIER_HBF,    HBF_MEDIA_PEER,
                  HBF_DOMAIN_NONE, CoherenceClass::coarse};
        tier.owner = peer.ordinal;
        tier.kernels = peer.kernels;
        tier.degraded = !peer.kernels;
        // It is the peer's first of all, and each of its peers wants a part.
        tier.capacity = options_.peer_bytes ? std::min(options_.peer_bytes, peer.free) : peer.free / 8 / means_.devices;
        tier.detail = fmt::format("memory of {} over {}; copies{} were tried both ways and arrive{}", peer.id, peer.link,
                                  peer.kernels ? " and kernels" : "", peer.kernels ? "" : "; not for kernels: " + peer.why);
        add(std::move(tier));
    }

    void host() {
        Tier tier{Sort::host, "hbf0", HBF_TIER_HBF, HBF_MEDIA_PINNED, host_domain, options_.host_class};
        tier.owner = means_.device.ordinal;
        tier.capacity = options_.host_bytes ? options_.host_bytes : means_.host.bytes / means_.devices;
        std::string fallback;
        if (means_.host.cxl.empty()) fallback += "; there is no CXL memory";
        if (means_.peers.empty()) fallback += "; no peer's memory";
        tier.detail = fmt::format("pinned host memory, {}-grained{}", name_of(tier.coherence), fallback);
        add(std::move(tier));
    }

    const Means &means_;
    const AmdOptions &options_;
    std::vector<Tier> tiers_;
};

} // namespace

std::vector<Tier> plan_tiers(const Means &means, const AmdOptions &options) {
    return Planner(means, options).run();
}

} // namespace hbf::amd
