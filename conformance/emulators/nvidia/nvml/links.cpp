// SPDX-License-Identifier: Apache-2.0
// Reference, "Device Queries" and "NvLink Methods": PCIe, NVLink, and what lies between two devices.
#include <algorithm>
#include <vector>

#include "conformance/emulators/nvidia/nvml/health.hpp"
#include "conformance/emulators/nvidia/nvml/library.hpp"

namespace hbf::emulated::nvml {
namespace {

constexpr uint32_t most_links = 18; // NVML_NVLINK_MAX_LINKS

struct Peer {
    int device;
    model::LinkState state;
};
std::vector<Peer> peers(const model::Device &device) {
    std::vector<Peer> all;
    for (const int other : machine().devices_of("nvidia")) {
        if (other == device.index()) continue;
        const model::LinkState state = machine().peer_link(device.index(), other);
        if (state.profile && state.profile->kind == "nvlink") all.push_back({other, state});
    }
    return all;
}

uint32_t sum(const std::vector<Peer> &all) {
    uint32_t lanes = 0;
    for (const Peer &peer : all) lanes += peer.state.profile->lanes;
    return lanes;
}

// Reference: INVALID_ARGUMENT "if link is invalid", NOT_SUPPORTED "if the device doesn't support" it.
template <class Work>
nvmlReturn_t of_link(Call function, nvmlDevice_t handle, unsigned int number, Work &&work) {
    return of_device(function, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (number >= most_links) return INVALID_ARGUMENT;
        NvLink link;
        return nvlink(device, number, link) ? work(device, link) : NOT_SUPPORTED;
    });
}

// Generation and width of the slot; what a fault leaves of them, or what the profile's device could.
template <class Value>
nvmlReturn_t pcie(Call function, nvmlDevice_t handle, unsigned int *out, Value &&value) {
    return of_device(function, handle, [&](model::Device &device) -> nvmlReturn_t {
        const model::LinkState link = machine().host_link(device.index());
        return link.profile ? give(out, value(link)) : NOT_SUPPORTED;
    });
}

} // namespace

uint32_t nvlink_count(const model::Device &device) {
    const std::vector<Peer> all = peers(device);
    const uint32_t lanes = sum(all);
    if (lanes <= most_links) return lanes;
    uint32_t most = 0;
    for (const Peer &peer : all) most = std::max(most, peer.state.profile->lanes);
    return std::min(most, most_links);
}

bool nvlink(const model::Device &device, uint32_t number, NvLink &out) {
    const std::vector<Peer> all = peers(device);
    if (number >= nvlink_count(device)) return false;
    if (sum(all) > most_links) { // through switches
        out = {all.front().state.profile, -1,
               std::all_of(all.begin(), all.end(), [&](const Peer &peer) { return number < peer.state.lanes_up; })};
        return true;
    }
    uint32_t first = 0;
    for (const Peer &peer : all) {
        if (number < first + peer.state.profile->lanes) {
            out = {peer.state.profile, peer.device, number - first < peer.state.lanes_up};
            return true;
        }
        first += peer.state.profile->lanes;
    }
    return false;
}

extern "C" {

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t handle, unsigned int *out) {
    return of_device(Call::nvmlDeviceGetPcieReplayCounter, handle,
                     [&](model::Device &device) { return give(out, count_of(device, model::Counter::pcie_replays)); });
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t handle, unsigned int *out) {
    return pcie(Call::nvmlDeviceGetCurrPcieLinkGeneration, handle, out,
                [](const model::LinkState &link) { return link.generation; });
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t handle, unsigned int *out) {
    return pcie(Call::nvmlDeviceGetCurrPcieLinkWidth, handle, out, [](const model::LinkState &link) { return link.width; });
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t handle, unsigned int *out) {
    return pcie(Call::nvmlDeviceGetMaxPcieLinkGeneration, handle, out, [](const model::LinkState &link) {
        return std::max(link.profile->max_generation, link.profile->generation);
    });
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t handle, unsigned int *out) {
    return pcie(Call::nvmlDeviceGetMaxPcieLinkWidth, handle, out,
                [](const model::LinkState &link) { return std::max(link.profile->max_width, link.profile->width); });
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t handle, unsigned int number, int *out) {
    return of_link(Call::nvmlDeviceGetNvLinkState, handle, number,
                   [&](model::Device &, const NvLink &link) { return give(out, link.up ? 1 : 0); });
}

// 4 is Hopper's, 3 Ampere's (nvmlNvlinkVersion_t counts so).
nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t handle, unsigned int number, unsigned int *out) {
    return of_link(Call::nvmlDeviceGetNvLinkVersion, handle, number, [&](model::Device &device, const NvLink &) {
        return give(out, device.profile().architecture == "sm_90" ? 4 : 3);
    });
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t handle, unsigned int number, int capability, unsigned int *out) {
    return of_link(Call::nvmlDeviceGetNvLinkCapability, handle, number,
                   [&](model::Device &, const NvLink &link) -> nvmlReturn_t {
                       constexpr int p2p = 0, p2p_atomics = 2, valid = 5;
                       if (capability < 0 || capability > valid) return INVALID_ARGUMENT;
                       const bool peers = link.profile->peer != model::PeerAccess::none;
                       if (capability == p2p || capability == p2p_atomics) return give(out, peers ? 1 : 0);
                       return give(out, capability == valid ? 1 : 0);
                   });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned int number, nvmlPciInfo_t *out) {
    return of_link(Call::nvmlDeviceGetNvLinkRemotePciInfo_v2, handle, number,
                   [&](model::Device &, const NvLink &link) -> nvmlReturn_t {
                       if (!out) return INVALID_ARGUMENT;
                       if (link.peer < 0) return NOT_SUPPORTED; // a switch
                       return pci_info(machine().device(link.peer), *out) ? SUCCESS : UNKNOWN;
                   });
}

// DL_REPLAY 0, DL_RECOVERY 1, DL_CRC_FLIT 2, DL_CRC_DATA 3, DL_ECC_DATA 4. The machine counts them for a device: the first
// link has them all.
nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t handle, unsigned int number, int counter,
                                             unsigned long long *out) {
    return of_link(
        Call::nvmlDeviceGetNvLinkErrorCounter, handle, number, [&](model::Device &device, const NvLink &) -> nvmlReturn_t {
            if (counter < 0 || counter > 4) return INVALID_ARGUMENT;
            if (number != 0 || (counter != 0 && counter != 2)) return give(out, 0);
            return give(out, count_of(device, counter == 0 ? model::Counter::link_replays : model::Counter::link_errors));
        });
}

// READ 0, WRITE 1, NVLINK 2, ATOMICS 3, PCI 4. OK 0, NOT_SUPPORTED 5.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other, int ability, int *out) {
    return of_device(Call::nvmlDeviceGetP2PStatus, one, [&](model::Device &a) -> nvmlReturn_t {
        constexpr int ok = 0, not_supported = 5;
        if (!is_device(other) || ability < 0 || ability > 4) return INVALID_ARGUMENT;
        const model::LinkState link = machine().peer_link(a.index(), other->device->index());
        const bool nvlinked = link.profile && link.profile->kind == "nvlink" && link.up();
        bool can = machine().peer_advertised(a.index(), other->device->index());
        if (ability == 2 || ability == 3) can = can && nvlinked;
        if (ability == 4) can = can && !nvlinked;
        return give(out, can ? ok : not_supported);
    });
}

// INTERNAL 0, HOSTBRIDGE 30, NODE 40, SYSTEM 50: by NUMA nodes, which is all that a profile says of the way between them.
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other, int *out) {
    return of_device(Call::nvmlDeviceGetTopologyCommonAncestor, one, [&](model::Device &a) -> nvmlReturn_t {
        if (!is_device(other)) return INVALID_ARGUMENT;
        if (one == other) return give(out, 0);
        return give(out, a.profile().numa == other->device->profile().numa ? 40 : 50);
    });
}

} // extern "C"
} // namespace hbf::emulated::nvml
