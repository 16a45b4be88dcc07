// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/output/json.hpp"
#include "hbf/system.hpp"
#include "tools/bandwidth/rows.hpp"
#include "tools/cli/version.hpp"
#include "tools/probe/report.hpp"

namespace hbf::tools::probe {
namespace {

constexpr int schema_version = 1;

Json tier_json(const TierInfo &tier) {
    return Json::object({{"index", tier.index},
                         {"name", tier.name},
                         {"kind", bandwidth::kind_name(tier.kind)},
                         {"media", bandwidth::media_name(tier.media)},
                         {"emulated", tier.emulated},
                         {"degraded", tier.degraded},
                         {"capacity", tier.capacity},
                         {"available", tier.available},
                         {"granule", tier.granule},
                         {"alignment", tier.alignment},
                         {"copy_alignment", tier.copy_alignment},
                         {"line_size", tier.line_size},
                         {"cpu_access", tier.cpu_access},
                         {"device_access", tier.device_access},
                         {"dma_access", tier.dma_access},
                         {"persistent", tier.persistent},
                         {"numa_bound", tier.numa_bound},
                         {"numa_node", tier.numa_node},
                         {"coherence_domain", tier.domain},
                         {"extended_by", tier.extended_by},
                         {"nominal_bandwidth", tier.nominal_bandwidth},
                         {"nominal_latency_ns", tier.nominal_latency_ns},
                         {"detail", tier.detail}});
}

Json device_json(const ProbedDevice &device) {
    Json tiers = Json::array();
    for (const TierInfo &tier : device.tiers) tiers.push(tier_json(tier));
    return Json::object({{"id", device.id},
                         {"name", device.name},
                         {"driver", device.driver},
                         {"pci_address", device.pci_address},
                         {"numa_node", device.numa_node},
                         {"emulated", device.emulated},
                         {"on_cpu", device.on_cpu},
                         {"reason", to_string(device.reason)},
                         {"detail", device.detail},
                         {"tiers", tiers},
                         {"kernels", Json::array_of(device.kernels)}});
}

Json candidate_json(const Candidate &candidate) {
    Json devices = Json::array();
    for (const ProbedDevice &device : candidate.devices) devices.push(device_json(device));
    return Json::object({{"name", candidate.name},
                         {"vendor", candidate.vendor},
                         {"version", candidate.version},
                         {"kind", candidate.kind},
                         {"priority", candidate.priority},
                         {"pinned", candidate.pinned},
                         {"manifest", candidate.manifest.string()},
                         {"library", candidate.plugin_file.string()},
                         {"sha256", candidate.sha256},
                         {"stage", to_string(candidate.stage)},
                         {"reason", to_string(candidate.reason)},
                         {"detail", candidate.detail},
                         {"probe_cached", candidate.probe_cached},
                         {"probe_ms", candidate.probe_ms},
                         {"devices", devices}});
}

Json pci_json(const PciDevice &device) {
    return Json::object({{"address", device.address},
                         {"vendor", fmt::format("{:04x}", device.vendor)},
                         {"device", fmt::format("{:04x}", device.device)},
                         {"class", fmt::format("{:06x}", device.class_code)},
                         {"numa_node", device.numa_node},
                         {"driver", device.driver},
                         {"iommu_group", device.iommu_group},
                         {"link_gts", device.link.current_gts},
                         {"link_max_gts", device.link.max_gts},
                         {"link_width", device.link.current_width},
                         {"link_max_width", device.link.max_width}});
}

Json node_json(const NumaNode &node) {
    return Json::object({{"id", node.id},
                         {"cpus", Json::array_of(node.cpus)},
                         {"memory_bytes", node.memory_bytes},
                         {"free_bytes", node.free_bytes},
                         {"distances", Json::array_of(node.distances)},
                         {"bandwidth_gbs", node.bandwidth_gbs},
                         {"latency_ns", node.latency_ns},
                         {"cxl", node.cxl}});
}

Json inventory_json(const Inventory &inventory) {
    Json pci = Json::array(), nodes = Json::array(), dax = Json::array(), blocks = Json::array(), settings = Json::object();
    for (const PciDevice &device : inventory.pci) pci.push(pci_json(device));
    for (const NumaNode &node : inventory.nodes) nodes.push(node_json(node));
    for (const DaxDevice &device : inventory.dax) {
        dax.push(Json::object(
            {{"name", device.name}, {"mode", device.mode}, {"size", device.size}, {"target_node", device.target_node}}));
    }
    for (const BlockDevice &block : inventory.blocks) {
        blocks.push(Json::object({{"name", block.name},
                                  {"model", block.model},
                                  {"scheduler", block.scheduler},
                                  {"size", block.size},
                                  {"logical_block", block.logical_block},
                                  {"rotational", block.rotational},
                                  {"numa_node", block.numa_node}}));
    }
    for (const auto &[name, setting] : inventory.settings) {
        settings.set(name, Json::object({{"value", setting.value}, {"source", setting.source}, {"error", setting.error}}));
    }
    return Json::object({{"root", inventory.root.string()},
                         {"kernel", inventory.kernel},
                         {"boot_id", inventory.boot_id},
                         {"cpu_model", inventory.cpu_model},
                         {"hypervisor", inventory.hypervisor},
                         {"last_level_cache_bytes", inventory.last_level_cache_bytes},
                         {"pci", pci},
                         {"nodes", nodes},
                         {"dax", dax},
                         {"blocks", blocks},
                         {"settings", settings},
                         {"problems", Json::array_of(inventory.problems)}});
}

Json heading(bool ready, const std::string &summary) {
    return Json::object({{"schema", "hbf.probe"},
                         {"schema_version", schema_version},
                         {"tool_version", tool_version()},
                         {"libhbf_version", version()},
                         {"ready", ready},
                         {"summary", summary}});
}

} // namespace

std::string report_json(const Selection &selection) {
    const Candidate *primary = selection.primary();
    Json out = heading(primary != nullptr, closing_line(selection));
    out.set("plugin", primary ? Json(primary->name) : Json());
    out.set("version", primary ? Json(primary->version) : Json());
    out.set("tiers", primary ? Json(tier_count(*primary)) : Json(0));
    Json candidates = Json::array();
    for (const Candidate &candidate : selection.candidates) candidates.push(candidate_json(candidate));
    out.set("candidates", candidates);
    out.set("notes", Json::array_of(selection.notes));
    out.set("inventory", inventory_json(selection.inventory));
    return out.dump();
}

std::string report_json(const Error &error) {
    Json out = heading(false, "HBF not ready: " + error.message);
    out.set("error", Json::object({{"code", to_string(error.code)}, {"message", error.message}}));
    return out.dump();
}

} // namespace hbf::tools::probe
