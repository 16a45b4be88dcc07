// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/peers.hpp"

#include <fmt/format.h>

#include "plugins/amd/memory/truth_probe.hpp"
#include "plugins/amd/on_device.hpp"

namespace hbf::amd {
namespace {

std::string link_text(const Hip &hip, int from, int to) {
    uint32_t type = 0, hops = 0;
    if (!hip.ExtGetLinkTypeAndHopCount || taken(hip.ExtGetLinkTypeAndHopCount(from, to, &type, &hops)) != code::success)
        return "a link that the runtime does not name";
    const char *const name = type == flag::link_xgmi ? "xGMI" : type == flag::link_pcie ? "PCIe" : nullptr;
    return fmt::format("{}, {} hop{}", name ? name : fmt::format("link type {}", type), hops, hops == 1 ? "" : "s");
}

// Enabled by us: then it is disabled again where the peer turns out to be none, so that the runtime copies through the host.
bool enable(const Hip &hip, int from, int to, std::string &why) {
    const OnDevice here(from);
    const Code code = taken(hip.DeviceEnablePeerAccess(to, 0));
    if (code != code::success && code != code::peer_already_enabled)
        why = "hipDeviceEnablePeerAccess gives " + error_text(code);
    return code == code::success;
}

} // namespace

std::vector<Peer> find_peers(const DeviceFacts &device, const std::vector<PeerCandidate> &others,
                             stream::KernelTable *kernels, const sdk::Log &log) {
    const Hip &hip = library().hip;
    std::vector<Peer> out;
    for (const PeerCandidate &other : others) {
        int can = 0;
        if (taken(hip.DeviceCanAccessPeer(&can, device.ordinal, other.ordinal)) != code::success || can == 0) {
            log.info(fmt::format("{} is no peer: the runtime says that its memory cannot be reached", other.id));
            continue;
        }
        Peer peer;
        peer.ordinal = other.ordinal;
        peer.id = other.id;
        std::string why;
        const bool enabled = enable(hip, device.ordinal, other.ordinal, why);
        if (why.empty()) {
            try {
                peer.link = link_text(hip, device.ordinal, other.ordinal);
                const PeerTruth truth = probe_peer(device.ordinal, other.ordinal, kernels);
                why = truth.copies;
                peer.kernels = truth.kernels.empty();
                peer.why = truth.kernels;
                peer.free = truth.free;
            } catch (const sdk::Failure &failure) {
                why = failure.message;
            }
        }
        if (why.empty()) {
            if (!peer.kernels) log.warning(fmt::format("kernels are not given memory of {}: {}", other.id, peer.why));
            out.push_back(peer);
            continue;
        }
        log.warning(
            fmt::format("memory of {} is not used, though the runtime says that it can be reached: {}", other.id, why));
        if (enabled && hip.DeviceDisablePeerAccess) {
            const OnDevice here(device.ordinal);
            (void)taken(hip.DeviceDisablePeerAccess(other.ordinal));
        }
    }
    return out;
}

} // namespace hbf::amd
