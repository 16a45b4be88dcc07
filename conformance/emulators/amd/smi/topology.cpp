// SPDX-License-Identifier: Apache-2.0
// Where devices hang, and the links between them.
#include <algorithm>

#include "conformance/emulators/amd/smi/smi.hpp"

namespace hbf::emulated::smi {
namespace {

struct Pair {
    model::LinkState link;
    bool xgmi = false;
};

template <class Work>
rsmi_status_t of_pair(Call function, uint32_t from, uint32_t to, const void *out, Work &&work) noexcept {
    return of_device(function, from, out, [&](model::Device &a) -> rsmi_status_t {
        model::Device *const b = device_of(to);
        if (!b || &a == b) return INVALID_ARGS;
        Pair pair{machine()->peer_link(a.index(), b->index())};
        pair.xgmi = pair.link.profile && pair.link.profile->kind == "xgmi" && pair.link.up();
        return work(pair);
    });
}

uint64_t giga_transfers(uint32_t generation) {                                         // of PCIe, per second and lane
    return generation <= 2 ? 25u * generation : 80u << (std::min(generation, 6u) - 3); // in tenths
}

} // namespace

extern "C" {

// Header, rsmi_topo_get_numa_node_number: of the CPU that the device hangs at.
rsmi_status_t rsmi_topo_get_numa_node_number(uint32_t index, uint32_t *out) {
    return of_device(Call::rsmi_topo_get_numa_node_number, index, out, [&](model::Device &device) {
        return give(out, static_cast<uint32_t>(std::max(device.profile().numa, 0)));
    });
}
// Header, rsmi_topo_numa_affinity_get: as sysfs says; -1: none.
rsmi_status_t rsmi_topo_numa_affinity_get(uint32_t index, int32_t *out) {
    return of_device(Call::rsmi_topo_numa_affinity_get, index, out,
                     [&](model::Device &device) { return give(out, int32_t{device.profile().numa}); });
}

// Header, rsmi_topo_get_link_type: type and hops.
rsmi_status_t rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops, int *type) {
    return of_pair(Call::rsmi_topo_get_link_type, from, to, type, [&](const Pair &pair) -> rsmi_status_t {
        if (!hops) return INVALID_ARGS;
        *hops = pair.xgmi ? 1 : 2;
        return give(type, pair.xgmi ? int{LINK_XGMI} : int{LINK_PCIE});
    });
}
// Header, rsmi_topo_get_link_weight: what the driver makes of it: 15 for a hop of xGMI, 40 through the host.
rsmi_status_t rsmi_topo_get_link_weight(uint32_t from, uint32_t to, uint64_t *out) {
    return of_pair(Call::rsmi_topo_get_link_weight, from, to, out,
                   [&](const Pair &pair) { return give(out, uint64_t{pair.xgmi ? 15u : 40u}); });
}
// Header, rsmi_is_P2P_accessible.
rsmi_status_t rsmi_is_P2P_accessible(uint32_t from, uint32_t to, bool *out) {
    return of_pair(Call::rsmi_is_P2P_accessible, from, to, out,
                   [&](const Pair &pair) { return give(out, pair.link.peer_advertised); });
}
// Header, rsmi_minmax_bandwidth_get: MB/s, of xGMI only.
rsmi_status_t rsmi_minmax_bandwidth_get(uint32_t from, uint32_t to, uint64_t *least, uint64_t *most) {
    return of_pair(Call::rsmi_minmax_bandwidth_get, from, to, most, [&](const Pair &pair) -> rsmi_status_t {
        if (!least) return INVALID_ARGS;
        if (!pair.xgmi) return NOT_SUPPORTED;
        *least = *most = pair.link.bandwidth / 1'000'000;
        return SUCCESS;
    });
}

// Header, rsmi_dev_pci_bandwidth_get: possible transfer rates and lanes, and which is current.
rsmi_status_t rsmi_dev_pci_bandwidth_get(uint32_t index, rsmi_pcie_bandwidth_t *out) {
    return of_device(Call::rsmi_dev_pci_bandwidth_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        const model::LinkState link = machine()->host_link(device.index());
        if (!link.profile || link.generation == 0) return NOT_SUPPORTED;
        rsmi_pcie_bandwidth_t result{};
        const uint32_t most = std::max({link.generation, link.profile->max_generation, 1u});
        for (uint32_t generation = 1; generation <= std::min(most, 6u); ++generation) {
            const uint32_t at = result.transfer_rate.supported++;
            result.transfer_rate.frequency[at] = giga_transfers(generation) * 100'000'000;
            result.lanes[at] = link.width;
            if (generation == link.generation) result.transfer_rate.current = at;
        }
        return give(out, result);
    });
}

} // extern "C"
} // namespace hbf::emulated::smi
