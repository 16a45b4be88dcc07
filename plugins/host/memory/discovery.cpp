// SPDX-License-Identifier: Apache-2.0
// Which tiers the machine's memory makes, and how large each may grow.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host/memory_room.hpp"
#include "core/host/parse.hpp"
#include "core/host/sections.hpp"
#include "hbf/sdk/failure.hpp"
#include "memory/node_tier.hpp"
#include "memory/placement.hpp"

namespace hbf::host {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20, gib = uint64_t{1} << 30;
constexpr uint64_t capacity_unit = 2 * mib; // so that whole huge pages fit

struct Plan {
    NodeTierFacts facts;
    uint64_t weight = 0; // bytes its memory has free: how a shared budget is split
};

std::string human(uint64_t bytes) {
    return bytes >= gib ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(gib))
                        : fmt::format("{} MiB", bytes / mib);
}

class Discovery {
public:
    Discovery(const MemoryOptions &options, const sdk::Log &log)
        : options_(options), log_(log), reader_(options.system_root, problems_) {}

    std::vector<std::unique_ptr<MemoryTier>> run() {
        read_nodes(reader_, machine_);
        read_cxl_dax(reader_, machine_);
        read_process_limits(reader_, machine_);
        for (const std::string &problem : problems_) log_.warning(problem);
        keep_usable_nodes();
        line_size_ = line_size();
        room_ = memory_room(reader_).bytes;
        if (room_ == UINT64_MAX) room_ = 0; // nothing known of this machine's memory: nothing to promise
        total_ = meminfo_bytes(reader_.text("proc/meminfo").value_or(""), "MemTotal").value_or(0);
        reserve_ = std::min(std::clamp(total_ / 16, 64 * mib, 2 * gib), room_ / 4);
        usable_ = room_ - reserve_;

        plan_nodes();
        if (machine_.nodes.empty()) plans_.push_back(whole_machine());
        std::sort(plans_.begin(), plans_.end(), [](const Plan &a, const Plan &b) { return order(a) < order(b); });
        const bool far =
            std::any_of(plans_.begin(), plans_.end(), [](const Plan &p) { return p.facts.kind == HBF_TIER_HBF; });
        if (!far) plan_pool();
        set_capacities(far);
        return make();
    }

private:
    // On-package memory, DRAM, far memory; each by node.
    static std::pair<int, int> order(const Plan &plan) {
        const bool near = plan.facts.kind == HBF_TIER_HBM, package = plan.facts.media == HBF_MEDIA_HBM;
        return {near ? (package ? 0 : 1) : 2, plan.facts.node};
    }

    uint32_t line_size() {
        const auto said = reader_.number("sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size");
        if (said && *said >= 16 && *said <= 4096) return static_cast<uint32_t>(*said);
        const long known = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
        return known > 0 ? static_cast<uint32_t>(known) : 64;
    }

    std::string size_text(const NumaNode &node) const {
        return human(machine_.nodes.size() > 1 ? node.memory_bytes : total_);
    }

    // Nodes without memory make no tier, and those outside this process's cpuset cannot be had.
    void keep_usable_nodes() {
        const auto &setting = machine_.settings["cpuset_mems"];
        const auto allowed = setting.value ? parse_list(*setting.value) : std::nullopt;
        std::erase_if(machine_.nodes, [&](const NumaNode &node) {
            if (node.memory_bytes == 0) return true;
            if (!allowed || std::binary_search(allowed->begin(), allowed->end(), node.id)) return false;
            log_.warning(fmt::format("memory of NUMA node {} is left out: this process's cpuset allows nodes {}", node.id,
                                     *setting.value));
            return true;
        });
    }

    NodeTierFacts common() const {
        NodeTierFacts facts;
        facts.reserve = reserve_;
        facts.line_size = line_size_;
        facts.root = options_.system_root;
        return facts;
    }

    // Tries to place a page there, and says in the detail what came of it.
    void try_binding(NodeTierFacts &facts) const {
        const BindProbe probe = probe_node(facts.node);
        facts.bind = probe.works;
        if (probe.works) {
            facts.detail += "; pages are bound to the node and looked up";
        } else if (probe.refused) {
            facts.degraded = machine_.nodes.size() > 1;
            facts.detail += "; pages are not bound to the node: " + probe.why;
        } else {
            facts.unusable = probe.why;
            facts.detail += "; no region can be had: " + probe.why;
        }
    }

    void plan_nodes() {
        double near_bandwidth = 0;
        for (const NumaNode &node : machine_.nodes) {
            if (!node.cpus.empty()) near_bandwidth = std::max(near_bandwidth, node.bandwidth_gbs.value_or(0));
        }
        for (const NumaNode &node : machine_.nodes) {
            Plan plan{common(), weight_of(node)};
            NodeTierFacts &facts = plan.facts;
            facts.node = node.id;
            facts.room_node = room_node(node);
            facts.cpus = node.cpus;
            facts.bandwidth = static_cast<uint64_t>(node.bandwidth_gbs.value_or(0) * 1e9);
            facts.latency_ns = static_cast<uint64_t>(node.latency_ns.value_or(0));
            if (!node.cpus.empty()) {
                facts.name = fmt::format("dram{}", node.id);
                facts.detail = fmt::format("DRAM of NUMA node {} ({}, {} CPUs)", node.id, size_text(node), node.cpus.size());
            } else if (!node.cxl && near_bandwidth > 0 && node.bandwidth_gbs.value_or(0) > 1.2 * near_bandwidth) {
                // On-package memory shows as a node without CPUs, too, but is nearer than DRAM.
                facts.media = HBF_MEDIA_HBM;
                facts.name = fmt::format("hbm{}", node.id);
                facts.detail =
                    fmt::format("NUMA node {} ({}) without CPUs, faster than DRAM by firmware's figures: on-package memory",
                                node.id, size_text(node));
            } else {
                facts.kind = HBF_TIER_HBF;
                facts.media = node.cxl ? HBF_MEDIA_CXL : HBF_MEDIA_DRAM;
                facts.option = "hbf_bytes";
                facts.name = fmt::format("hbf{}", node.id);
                facts.detail = fmt::format("{} memory: NUMA node {} ({}) without CPUs", node.cxl ? "CXL" : "far", node.id,
                                           size_text(node));
            }
            try_binding(facts);
            plans_.push_back(std::move(plan));
        }
    }

    // Where all memory is one node's, the machine's own figures count: a node's may leave out what is not yet plugged in.
    int room_node(const NumaNode &node) const { return machine_.nodes.size() > 1 ? node.id : -1; }

    uint64_t weight_of(const NumaNode &node) {
        if (machine_.nodes.size() == 1) return room_;
        const uint64_t room = memory_room(reader_, node.id).bytes;
        return std::min(room == UINT64_MAX ? node.free_bytes : room, node.memory_bytes);
    }

    Plan whole_machine() {
        Plan plan{common(), room_};
        plan.facts.name = "dram0";
        plan.facts.detail = fmt::format("all memory ({}); this kernel shows no NUMA nodes", human(total_));
        return plan;
    }

    // No far memory: a part of DRAM plays it, where there is a choice on the node farthest from the first.
    void plan_pool() {
        if (plans_.empty()) return;
        const NumaNode *farthest = nullptr;
        for (const NumaNode &node : machine_.nodes) {
            const auto &distances = machine_.nodes.front().distances;
            const auto distance = [&distances](const NumaNode &n) {
                return static_cast<size_t>(n.id) < distances.size() ? distances[static_cast<size_t>(n.id)] : 0;
            };
            if (!farthest || distance(node) > distance(*farthest)) farthest = &node;
        }
        Plan plan{common(), usable_ / 4};
        NodeTierFacts &facts = plan.facts;
        facts.name = "hbf0";
        facts.kind = HBF_TIER_HBF;
        facts.option = "hbf_bytes";
        if (farthest) {
            facts.node = farthest->id;
            facts.room_node = room_node(*farthest);
            facts.cpus = farthest->cpus;
            facts.detail = fmt::format("DRAM of NUMA node {} stands in: this machine has no far (CXL) memory", farthest->id);
            try_binding(facts);
        } else {
            facts.detail = "DRAM stands in: this machine shows no far (CXL) memory";
        }
        plans_.push_back(std::move(plan));
    }

    // Splits `bytes` among the tiers of one kind by what their memory has free.
    void split(hbf_tier_kind kind, uint64_t bytes) {
        double sum = 0;
        for (const Plan &plan : plans_) sum += plan.facts.kind == kind ? static_cast<double>(plan.weight) : 0;
        for (Plan &plan : plans_) {
            if (plan.facts.kind != kind || plan.weight == 0) continue;
            const uint64_t share = std::min(bytes, part_of(bytes, static_cast<double>(plan.weight) / sum));
            plan.facts.capacity = share / capacity_unit * capacity_unit;
        }
    }

    static uint64_t part_of(uint64_t bytes, double fraction) {
        return fraction >= 1 ? bytes : static_cast<uint64_t>(static_cast<double>(bytes) * fraction);
    }

    void check_option(const char *name, uint64_t value) const {
        if (value <= total_) return;
        sdk::fail(HBF_INVALID,
                  fmt::format("option {}: {} bytes, but this machine has {} bytes of memory", name, value, total_));
    }

    void set_capacities(bool far) {
        check_option("dram_bytes", options_.dram_bytes);
        check_option("hbf_bytes", options_.hbf_bytes);
        uint64_t near_weight = 0, far_weight = 0;
        for (const Plan &plan : plans_) (plan.facts.kind == HBF_TIER_HBM ? near_weight : far_weight) += plan.weight;
        uint64_t hbf = options_.hbf_bytes;
        if (hbf == 0 && !far) hbf = usable_ / 4;
        if (hbf == 0) {
            // Far nodes are part of what the machine has available: where that is less than all nodes have, all give way
            // alike.
            const double all = static_cast<double>(near_weight) + static_cast<double>(far_weight);
            hbf = std::min(far_weight, part_of(usable_, static_cast<double>(far_weight) / std::max(all, 1.0)));
            if (all <= static_cast<double>(usable_)) hbf = far_weight;
        }
        uint64_t near = options_.dram_bytes;
        if (near == 0) near = std::min(near_weight, usable_ - std::min(usable_, hbf));
        split(HBF_TIER_HBM, near);
        split(HBF_TIER_HBF, hbf);
    }

    std::vector<std::unique_ptr<MemoryTier>> make() {
        std::vector<std::unique_ptr<MemoryTier>> tiers;
        for (Plan &plan : plans_) {
            NodeTierFacts &facts = plan.facts;
            if (facts.capacity == 0) {
                log_.warning(fmt::format("tier {} is left out: less than {} bytes for it", facts.name, capacity_unit));
                continue;
            }
            facts.detail += fmt::format("; budget {}", human(facts.capacity));
            log_.info(fmt::format("tier {}: {}", facts.name, facts.detail));
            tiers.push_back(std::make_unique<NodeTier>(std::move(facts)));
        }
        return tiers;
    }

    const MemoryOptions &options_;
    const sdk::Log &log_;
    std::vector<std::string> problems_;
    Reader reader_;
    Inventory machine_;
    std::vector<Plan> plans_;
    uint32_t line_size_ = 64;
    uint64_t room_ = 0, total_ = 0, reserve_ = 0, usable_ = 0;
};

} // namespace

std::vector<std::unique_ptr<MemoryTier>> discover_memory_tiers(const MemoryOptions &options, const sdk::Log &log) {
    return Discovery(options, log).run();
}

} // namespace hbf::host
