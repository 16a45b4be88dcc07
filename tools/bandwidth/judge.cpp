// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/judge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::tools::bandwidth {
namespace {

constexpr double impossible = 1.5;  // times the best reference
constexpr double well_below = 0.75; // of the best reference on one thread: any executor should do as well

const Setting *setting(const Inventory &inventory, const std::string &name) {
    auto found = inventory.settings.find(name);
    return found != inventory.settings.end() && found->second.value ? &found->second : nullptr;
}

void add_links(std::vector<std::string> &causes, const Row &row, const Machine &machine) {
    const auto &places = machine.places();
    std::vector<std::string> hops = machine.pci_addresses(places[row.spec.src].device);
    for (auto &address : machine.pci_addresses(places[row.spec.dst].device)) hops.push_back(address);
    for (const auto &device : machine.inventory().pci) {
        const bool nvme = row.storage && (device.class_code >> 8) == 0x0108;
        if (!nvme && std::find(hops.begin(), hops.end(), device.address) == hops.end()) continue;
        const auto &link = device.link;
        if (link.current_width > 0 && link.current_width < link.max_width) {
            causes.push_back(
                fmt::format("slot width: PCI {} runs x{} of x{}", device.address, link.current_width, link.max_width));
        }
        if (link.current_gts > 0 && link.current_gts < link.max_gts) {
            causes.push_back(fmt::format("link speed: PCI {} runs at {} of {} GT/s", device.address,
                                         format_significant(link.current_gts, 3), format_significant(link.max_gts, 3)));
        }
    }
}

void add_numa(std::vector<std::string> &causes, const Row &row, const Machine &machine) {
    const auto &places = machine.places();
    const int src = places[row.spec.src].tier.numa_node, dst = places[row.spec.dst].tier.numa_node;
    for (const auto &node : machine.inventory().nodes) {
        if (node.id == src && dst >= 0 && src != dst && static_cast<size_t>(dst) < node.distances.size()) {
            causes.push_back(fmt::format("NUMA distance {} between node {} and node {}",
                                         node.distances[static_cast<size_t>(dst)], src, dst));
        }
    }
    for (auto [pages, node, side] :
         {std::tuple{&row.src_pages, src, "source"}, std::tuple{&row.dst_pages, dst, "destination"}}) {
        size_t elsewhere = 0, all = 0;
        for (auto [where, count] : *pages) {
            all += count;
            if (where != node && where >= 0) elsewhere += count;
        }
        if (node >= 0 && elsewhere > 0) {
            causes.push_back(
                fmt::format("NUMA placement: {} of {} pages of the {} are not on node {}", elsewhere, all, side, node));
        }
    }
    if (row.cpu.node >= 0 && src >= 0 && row.cpu.node != src && !row.storage) {
        causes.push_back(fmt::format("the submitting thread ran on node {}, the source is on node {}", row.cpu.node, src));
    }
    const auto *balancing = setting(machine.inventory(), "numa_balancing");
    if (balancing != nullptr && *balancing->value != "0" && machine.inventory().nodes.size() > 1) {
        causes.push_back(
            fmt::format("numa_balancing is on (={}): the kernel unmaps pages to watch them", *balancing->value));
    }
}

} // namespace

std::vector<std::string> likely_causes(const Row &row, const Machine &machine) {
    std::vector<std::string> causes;
    if (row.is_contended()) {
        double foreign = 0, steal = 0;
        for (const auto &sample : row.samples) {
            if (!sample.contention) continue;
            foreign = std::max(foreign, sample.contention->foreign);
            steal = std::max(steal, sample.contention->steal);
        }
        causes.push_back(
            fmt::format("contention: {} of {} samples shared the CPUs (others up to {:.0f} %, stolen up to {:.0f} %)",
                        row.contended, row.samples.size(), foreign * 100, steal * 100));
    }
    add_links(causes, row, machine);
    add_numa(causes, row, machine);
    for (auto place : {row.spec.src, row.spec.dst}) {
        const auto &tier = machine.places()[place].tier;
        auto cause = fmt::format("tier {} works in a lesser way: {}", tier.name, tier.detail);
        if (tier.degraded && std::find(causes.begin(), causes.end(), cause) == causes.end()) causes.push_back(cause);
    }
    const auto *iommu = setting(machine.inventory(), "iommu");
    const bool device = row.storage || !machine.pci_addresses(machine.places()[row.spec.src].device).empty();
    if (device && iommu != nullptr && *iommu->value != "off" && *iommu->value != "none" && *iommu->value != "0") {
        causes.push_back(
            fmt::format("IOMMU: {} ({}); passthrough (iommu=pt) spares the translation", *iommu->value, iommu->source));
    }
    if (!row.storage && row.src_page_size == 4096 && row.op_size >= (2u << 20)) {
        causes.push_back("pages of 4 KiB: huge pages give 4 to 10 % more");
    }
    if (row.op_size < (64u << 10)) {
        causes.push_back(fmt::format("small operations: {} each, the cost of a command counts", format_size(row.op_size)));
    }
    return causes;
}

void summarize(Row &row) {
    row.queue = measure::summarize(row.gbs);
    row.wall = measure::summarize(row.wall_gbs);
    std::vector<double> overhead;
    for (const auto &record : row.samples) {
        overhead.push_back((record.sample.wall_seconds - record.sample.queue_seconds) * 1e6);
    }
    row.overhead_us = measure::summarize(overhead).median;
    for (size_t i = 0; i < row.references.size() && row.queue.count > 0; ++i) {
        if (row.references[i].gbs.empty()) continue;
        auto &best = row.references[i].threads == 1 ? row.one_thread : row.all_threads;
        const auto median = measure::summarize(row.references[i].gbs).median;
        if (!best || median > best->gbs) best = {i, median, row.queue.median / median};
    }
}

std::optional<Row::Limit> physical_limit(const Row &row, const Machine &machine) {
    std::optional<Row::Limit> out;
    for (auto place : {row.spec.src, row.spec.dst}) {
        const auto &tier = machine.places()[place].tier;
        const double gbs = static_cast<double>(tier.nominal_bandwidth) * 1e-9;
        // Each of two directions at once has the whole of a full-duplex link: their sum is held against none.
        if (gbs <= 0 || row.spec.direction == RowSpec::Direction::both || (out && out->gbs <= gbs)) continue;
        out = {gbs, row.queue.median / gbs, tier.name};
    }
    return out;
}

std::optional<double> highest_possible(const Row &row) {
    double most = 0;
    for (const auto &series : row.references) {
        for (double one : series.gbs) most = std::max(most, one);
    }
    if (most <= 0) return std::nullopt;
    return impossible * most;
}

void judge(Row &row, const Machine &machine) {
    if (row.status == Status::pass && row.samples.empty()) {
        row.status = Status::error;
        row.reason = row.interrupted ? "interrupted before a sample was taken" : "no sample was taken in the time given";
    }
    // Not by chance: the whole interval lies above, and above what plain copies reached at their least disturbed.
    const double least = row.queue.ci95 ? row.queue.ci95->low : row.queue.min;
    const auto limit = highest_possible(row);
    if (row.status == Status::pass && limit && least > *limit * machine.reference_slack()) {
        const double most = *limit / impossible;
        row.status = Status::fail;
        row.reason =
            fmt::format("impossible figure: {} GB/s is {:.2f} times the fastest plain copy of this run ({} GB/s): the "
                        "device completes before its data has moved, or the clock is wrong",
                        format_significant(row.queue.median), row.queue.median / most, format_significant(most));
    }
    row.limit = physical_limit(row, machine);
    // What stays in a cache does not pass through the tier.
    if (row.status == Status::pass && row.limit && !row.cache_hot && row.page_cache != PageCache::hot &&
        least > row.limit->gbs) {
        row.status = Status::fail;
        row.reason = fmt::format("above the physical limit: {} GB/s, tier {} does {} GB/s at most: the data did not pass "
                                 "through it, or the clock is wrong",
                                 format_significant(row.queue.median), row.limit->tier, format_significant(row.limit->gbs));
    }
    if (row.status != Status::pass) return;
    if (row.cache_hot) {
        row.notes.push_back(fmt::format("cache-hot: {} a buffer, {} would defeat the last-level cache",
                                        format_size(row.bytes), format_size(row.wanted_bytes)));
    }
    if (!row.warmup_stable) row.notes.push_back("unstable_warmup: the last passes still differed by 2 % or more");
    if (row.page_cache == PageCache::hot) {
        row.notes.push_back("page_cache=hot: the bytes did not all reach the device, this is the page cache's speed");
    }
    if (row.one_thread && row.one_thread->share < well_below) row.causes = likely_causes(row, machine);
}

void judge_floor(Row &row, const Machine &machine, const std::optional<Floor> &floor) {
    row.floor = floor;
    if (!floor || row.status != Status::pass) return;
    // Below the floor with the whole interval, not by chance.
    const double best = row.queue.ci95 ? row.queue.ci95->high : row.queue.median;
    if (best >= floor->gbs) return;
    row.status = Status::fail;
    row.reason =
        fmt::format("below the floor: {} GB/s, profile '{}' ({}, {}) asks for {} GB/s", format_significant(row.queue.median),
                    floor->profile, floor->source, floor->date, format_significant(floor->gbs));
    row.causes = likely_causes(row, machine);
}

} // namespace hbf::tools::bandwidth
