// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/describe.hpp"

#include <exception>

#include <fcntl.h>
#include <fmt/format.h>

#include "conformance/suite/context.hpp"
#include "core/common/fd.hpp"
#include "core/host/root.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/sha256.hpp"
#include "core/output/size.hpp"

namespace hbf::conformance {
namespace {

void add(Facts &facts, const char *key, std::string value) {
    if (!value.empty()) facts.emplace_back(key, std::move(value));
}

std::string kind_name(hbf_tier_kind kind) {
    return kind == HBF_TIER_HBM ? "hbm" : kind == HBF_TIER_HBF ? "hbf" : kind == HBF_TIER_COLD ? "cold" : "kind ?";
}

std::string access_names(uint32_t access) {
    std::string out;
    for (const auto &[bit, name] :
         {std::pair{HBF_ACCESS_CPU, "cpu"}, {HBF_ACCESS_DEVICE, "device"}, {HBF_ACCESS_DMA, "dma"}})
        if (access & bit) out += (out.empty() ? "" : "+") + std::string(name);
    return out.empty() ? "nothing" : out;
}

std::string text_of(const hbf_tier_info &tier, const hbf_domain_info *domain) {
    std::string out = fmt::format("{}, {}, reached by {}, granule {}, alignment {}, copy alignment {}", kind_name(tier.kind),
                                  format_size(tier.capacity), access_names(tier.access), tier.granule, tier.alignment,
                                  tier.copy_alignment);
    if (tier.nominal_bandwidth)
        out += fmt::format(", declares {:.4g} GB/s", static_cast<double>(tier.nominal_bandwidth) / 1e9);
    if (tier.nominal_latency_ns) out += fmt::format(", declares {} ns", tier.nominal_latency_ns);
    if (domain) out += fmt::format(", domain {}", domain->name);
    if (tier.flags & HBF_TIER_FLAG_PERSISTENT) out += ", persistent";
    if (tier.flags & HBF_TIER_FLAG_DEGRADED) out += ", degraded";
    if (tier.reality != HBF_REALITY_REAL) out += ", emulated";
    return out + fmt::format("; {}", tier.detail);
}

std::string widths(uint32_t mask) {
    std::string out;
    for (uint32_t width = 1; width; width <<= 1)
        if (mask & width) out += fmt::format("{}{}", out.empty() ? "" : "+", width);
    return out.empty() ? "no atomics" : fmt::format("atomics of {} bytes", out);
}

std::string text_of(const hbf_domain_info &domain) {
    return fmt::format("{} coherence, granule {}, {}; {}",
                       domain.protocol == HBF_PROTOCOL_HARDWARE ? "hardware" : "software", domain.granule,
                       widths(domain.atomic_widths), domain.detail);
}

void describe_file(const std::string &library, Facts &facts) {
    add(facts, "path", library);
    const Fd file(open(library.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return;
    if (const auto sum = loader::sha256_file(file.get(), library)) add(facts, "sha256", *sum);
}

void describe_plugin(const hbf_plugin &plugin, Facts &facts) {
    add(facts, "name", plugin.name);
    add(facts, "vendor", plugin.vendor);
    add(facts, "version", plugin.version);
    add(facts, "description", plugin.description);
    add(facts, "build_id", plugin.build_id);
    add(facts, "compiler", plugin.compiler);
    add(facts, "abi", loader::abi_text(plugin.abi_version));
    add(facts, "sanitizer", std::string(loader::sanitizer_name(plugin.sanitizer)));
}

void describe_device(const hbf_device_info &device, Facts &facts) {
    add(facts, "id", device.id);
    add(facts, "name", device.name);
    add(facts, "driver", device.driver);
    add(facts, "pci_address", device.pci_address);
    if (device.numa_node >= 0) add(facts, "numa_node", std::to_string(device.numa_node));
}

// Bytes of each table, by its own word.
std::string table_sizes(const hbf_plugin &plugin, const Instance &device) {
    std::string out = fmt::format("base {}, {} {}, {} {}", plugin.struct_size, HBF_EXT_TIER, device.tier_table().struct_size,
                                  HBF_EXT_QUEUE, device.queue_table().struct_size);
    if (const auto *table = device.coherence_table()) out += fmt::format(", {} {}", HBF_EXT_COHERENCE, table->struct_size);
    if (const auto *table = device.kernels_table()) out += fmt::format(", {} {}", HBF_EXT_KERNELS, table->struct_size);
    if (const auto *table = device.health_table()) out += fmt::format(", {} {}", HBF_EXT_HEALTH, table->struct_size);
    return out;
}

void describe_instance(const Instance &device, RunRecord &out) {
    for (uint32_t i = 0; i < device.tiers().size(); ++i) {
        out.emulated |= device.tier(i).reality != HBF_REALITY_REAL;
        out.limits.emplace_back(fmt::format("tier {}", device.tier(i).name), text_of(device.tier(i), device.domain_of(i)));
    }
    for (const hbf_domain_info &domain : device.domains())
        out.limits.emplace_back(fmt::format("domain {}", domain.name), text_of(domain));
    const hbf_queue_info &queue = device.queue_info();
    out.limits.emplace_back("queues", fmt::format("{} of {} values in flight, {} commands in a batch", queue.max_queues,
                                                  queue.max_depth, queue.max_commands));
    out.limits.emplace_back(capabilities_key, need_names(device.capabilities()));
    out.emulated |= !host::emulated_machine("/").empty();
    out.device.emplace_back("reality", out.emulated ? "emulated" : "real");
    if (!device.health_table()) return;
    for (const hbf_reading &reading : device.must_read_health())
        if (reading.kind == HBF_READING_COUNTER) out.health_before.emplace_back(reading.name, reading.value);
}

void describe_all(const SubjectOptions &options, RunRecord &out) {
    Subject subject(options);
    describe_plugin(subject.plugin(), out.plugin);
    const auto [probed, devices] = subject.probe();
    if (probed.status == HBF_UNAVAILABLE) {
        out.verdict = "untested";
        out.verdict_reason = "there is no device: " + to_string(probed);
        return;
    }
    describe_device(subject.must_probe(), out.device);
    add(out.plugin, "tables", table_sizes(subject.plugin(), subject.instance()));
    describe_instance(subject.instance(), out);
    subject.destroy_instance();
    out.verdict = "conformant";
}

} // namespace

RunRecord describe(const SubjectOptions &options) {
    RunRecord out;
    out.verdict = "undecided";
    describe_file(options.plugin_file, out.plugin);
    try {
        describe_all(options, out);
    } catch (const Verdict &verdict) {
        out.verdict = "undecided";
        out.verdict_reason = verdict.reason;
    } catch (const std::exception &error) {
        out.verdict = "undecided";
        out.verdict_reason = error.what();
    }
    return out;
}

} // namespace hbf::conformance
