// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/causes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::tools::bandwidth {
namespace {

using Causes = std::vector<std::string>;

void add(Causes &causes, std::string cause) {
    if (std::find(causes.begin(), causes.end(), cause) == causes.end()) causes.push_back(std::move(cause));
}

const Setting *setting(const Inventory &inventory, const std::string &name) {
    auto found = inventory.settings.find(name);
    return found != inventory.settings.end() && found->second.value ? &found->second : nullptr;
}

// Of the device of the source, then of the destination's where that is another.
std::vector<size_t> devices_of(const Row &row, const Machine &machine) {
    std::vector<size_t> out{machine.places()[row.spec.src].device};
    if (const size_t other = machine.places()[row.spec.dst].device; other != out.front()) out.push_back(other);
    return out;
}

std::vector<std::string> addresses_of(const Row &row, const Machine &machine) {
    std::vector<std::string> out;
    for (const size_t device : devices_of(row, machine))
        for (auto &address : machine.pci_addresses(device)) out.push_back(address);
    return out;
}

void add_pci_links(Causes &causes, const Row &row, const Machine &machine) {
    const auto hops = addresses_of(row, machine);
    for (const auto &device : machine.inventory().pci) {
        const bool nvme = row.storage && (device.class_code >> 8) == 0x0108;
        if (!nvme && std::find(hops.begin(), hops.end(), device.address) == hops.end()) continue;
        const auto &link = device.link;
        // As the kernel shows a link that is not trained; 255 lanes: what is no PCI Express device says.
        if (link.current_width == 0 && link.max_width > 0 && link.max_width < 255)
            add(causes, fmt::format("link down: PCI {} has no lane of x{}", device.address, link.max_width));
        if (link.current_width > 0 && link.current_width < link.max_width)
            add(causes,
                fmt::format("slot width: PCI {} runs x{} of x{}", device.address, link.current_width, link.max_width));
        if (link.current_gts > 0 && link.current_gts < link.max_gts)
            add(causes, fmt::format("link speed: PCI {} runs at {} of {} GT/s", device.address,
                                    format_significant(link.current_gts, 3), format_significant(link.max_gts, 3)));
    }
}

// Links between devices, which no PCI register tells of: the plugin's readings "NAME.active", 0 or 1.
void add_device_links(Causes &causes, const Row &row, const Machine &machine) {
    constexpr std::string_view suffix = ".active";
    for (const size_t device : devices_of(row, machine)) {
        size_t links = 0;
        std::vector<std::string> down;
        for (const HealthReading &reading : machine.health(device)) {
            if (reading.counter || !reading.name.ends_with(suffix)) continue;
            ++links;
            if (reading.value == 0) down.push_back(reading.name.substr(0, reading.name.size() - suffix.size()));
        }
        if (down.empty()) continue;
        const auto place = std::find_if(machine.places().begin(), machine.places().end(),
                                        [&](const Place &one) { return one.device == device; });
        add(causes, fmt::format("link down: {} of {} links of {} between devices are down ({}{})", down.size(), links,
                                place->device_name, down.front(), down.size() > 1 ? " to " + down.back() : ""));
    }
}

const NumaNode *node_of(const Inventory &inventory, int id) {
    for (const NumaNode &node : inventory.nodes)
        if (node.id == id) return &node;
    return nullptr;
}

// ", distance 21", where the inventory knows it.
std::string distance_text(const Inventory &inventory, int from, int to) {
    const NumaNode *const node = node_of(inventory, from);
    if (node == nullptr || to < 0 || static_cast<size_t>(to) >= node->distances.size()) return "";
    return fmt::format(", distance {}", node->distances[static_cast<size_t>(to)]);
}

// A device that hangs at one node, and memory of the host that lies on another.
void add_far_nodes(Causes &causes, const Row &row, const Machine &machine) {
    const auto hops = addresses_of(row, machine);
    for (const auto &device : machine.inventory().pci) {
        if (device.numa_node < 0 || std::find(hops.begin(), hops.end(), device.address) == hops.end()) continue;
        for (const auto &[place, pages, side] :
             {std::tuple{row.spec.src, &row.src_pages, "source"}, std::tuple{row.spec.dst, &row.dst_pages, "destination"}}) {
            size_t all = 0, far = 0;
            int where = -1;
            for (const auto &[node, count] : *pages) {
                all += count;
                if (node >= 0 && node != device.numa_node) far += count, where = node;
            }
            const TierInfo &tier = machine.places()[place].tier;
            if (all == 0 && tier.cpu_access && tier.numa_node >= 0 && tier.numa_node != device.numa_node)
                all = far = 1, where = tier.numa_node;
            if (far == 0) continue;
            add(causes, fmt::format("far NUMA node: PCI {} hangs at node {}, the {} lies on node {} ({} % of it{})",
                                    device.address, device.numa_node, side, where, 100 * far / all,
                                    distance_text(machine.inventory(), device.numa_node, where)));
        }
    }
}

void add_numa(Causes &causes, const Row &row, const Machine &machine) {
    const auto &places = machine.places();
    const int src = places[row.spec.src].tier.numa_node, dst = places[row.spec.dst].tier.numa_node;
    if (const NumaNode *const node = node_of(machine.inventory(), src);
        node != nullptr && dst >= 0 && src != dst && static_cast<size_t>(dst) < node->distances.size())
        add(causes, fmt::format("NUMA distance {} between node {} and node {}", node->distances[static_cast<size_t>(dst)],
                                src, dst));
    for (auto [pages, node, side] :
         {std::tuple{&row.src_pages, src, "source"}, std::tuple{&row.dst_pages, dst, "destination"}}) {
        size_t elsewhere = 0, all = 0;
        for (auto [where, count] : *pages) {
            all += count;
            if (where != node && where >= 0) elsewhere += count;
        }
        if (node >= 0 && elsewhere > 0)
            add(causes,
                fmt::format("NUMA placement: {} of {} pages of the {} are not on node {}", elsewhere, all, side, node));
    }
    if (row.cpu.node >= 0 && src >= 0 && row.cpu.node != src && !row.storage)
        add(causes, fmt::format("the submitting thread ran on node {}, the source is on node {}", row.cpu.node, src));
    const auto *balancing = setting(machine.inventory(), "numa_balancing");
    if (balancing != nullptr && *balancing->value != "0" && machine.inventory().nodes.size() > 1)
        add(causes, fmt::format("numa_balancing is on (={}): the kernel unmaps pages to watch them", *balancing->value));
}

void add_contention(Causes &causes, const Row &row) {
    if (!row.is_contended()) return;
    double foreign = 0, steal = 0;
    for (const auto &sample : row.samples) {
        if (!sample.contention) continue;
        foreign = std::max(foreign, sample.contention->foreign);
        steal = std::max(steal, sample.contention->steal);
    }
    add(causes, fmt::format("contention: {} of {} samples shared the CPUs (others up to {:.0f} %, stolen up to {:.0f} %)",
                            row.contended, row.samples.size(), foreign * 100, steal * 100));
}

void add_iommu(Causes &causes, const Row &row, const Machine &machine) {
    if (!row.storage && addresses_of(row, machine).empty()) return;
    const auto *iommu = setting(machine.inventory(), "iommu");
    // "identity" is the kernel's word for passthrough.
    const auto harmless = {"off", "none", "0", "identity"};
    if (iommu != nullptr && std::find(harmless.begin(), harmless.end(), *iommu->value) == harmless.end())
        add(causes,
            fmt::format("IOMMU: {} ({}); passthrough (iommu=pt) spares the translation", *iommu->value, iommu->source));
    const auto *redirect = setting(machine.inventory(), "acs_redirect");
    if (redirect != nullptr && *redirect->value != "none")
        add(causes, fmt::format("IOMMU redirect: PCI bridge {} sends what devices send each other up to the root (ACS); "
                                "peer traffic takes the long way",
                                *redirect->value));
}

} // namespace

Causes link_causes(const Row &row, const Machine &machine) {
    Causes causes;
    add_pci_links(causes, row, machine);
    add_device_links(causes, row, machine);
    return causes;
}

Causes likely_causes(const Row &row, const Machine &machine) {
    Causes causes;
    add_contention(causes, row);
    for (auto &cause : link_causes(row, machine)) causes.push_back(std::move(cause));
    add_far_nodes(causes, row, machine);
    add_numa(causes, row, machine);
    for (auto place : {row.spec.src, row.spec.dst}) {
        const auto &tier = machine.places()[place].tier;
        if (tier.degraded) add(causes, fmt::format("tier {} works in a lesser way: {}", tier.name, tier.detail));
    }
    add_iommu(causes, row, machine);
    if (!row.storage && row.src_page_size == 4096 && row.op_size >= (2u << 20))
        add(causes, "pages of 4 KiB: huge pages give 4 to 10 % more");
    if (row.op_size < (64u << 10))
        add(causes, fmt::format("small operations: {} each, the cost of a command counts", format_size(row.op_size)));
    return causes;
}

} // namespace hbf::tools::bandwidth
