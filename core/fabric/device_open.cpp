// SPDX-License-Identifier: Apache-2.0
// Opening a device: the tables, checked against their frozen sizes, and the facts, copied once.
#include <fmt/format.h>

#include "core/common/declared.hpp"
#include "core/common/printable.hpp"
#include "core/fabric/coherence.hpp"
#include "core/fabric/device_core.hpp"
#include "core/fabric/host_log.hpp"
#include "core/fabric/tables.hpp"
#include "core/host/root.hpp"

namespace hbf::fabric {
namespace {

hbf_string view(std::string_view text) {
    return {text.data(), text.size()};
}

std::vector<hbf_option> as_options(const DeviceOptions &options) {
    std::vector<hbf_option> list;
    for (const auto &[key, value] : options.options) list.push_back({view(key), view(value)});
    return list;
}

// What probe says about the device: its name, and whether it is real. Known from selection, or asked again here.
Result<ProbedDevice> probed(const hbf_plugin *plugin, const DeviceOptions &options) {
    if (options.probed) return *options.probed;
    const auto list = as_options(options);
    const hbf_probe_in in{sizeof(in), static_cast<uint32_t>(list.size()), host_services(), list.data(),
                          view(options.system_root)};
    std::vector<hbf_device_info> devices(4);
    hbf_probe_out out{};
    for (;;) {
        for (auto &device : devices) {
            device = {};
            device.struct_size = sizeof(hbf_device_info);
        }
        out = {sizeof(out), static_cast<uint32_t>(devices.size()), devices.data(), sizeof(hbf_device_info), 0, 0};
        AbiError error;
        const hbf_status status = plugin->probe(&in, &out, error.out());
        if (status != HBF_OK) return tl::unexpected(error.to_error(status, fmt::format("plugin {}: probe", plugin->name)));
        if (out.device_count <= devices.size()) break;
        if (out.device_count > 4096) // a plugin that grows its answer for ever must not take all memory
            return fail(Code::internal, fmt::format("plugin {}: probe reports {} devices", plugin->name, out.device_count));
        devices.resize(out.device_count);
    }
    std::string known;
    for (uint32_t i = 0; i < out.device_count; ++i) {
        ProbedDevice device = device_declared(devices[i]);
        if (options.device_id.empty() || device.id == options.device_id) return device;
        known += (known.empty() ? "" : ", ") + printable(device.id);
    }
    return fail(Code::unavailable, fmt::format("plugin {} has no device '{}' (it has: {})", plugin->name, options.device_id,
                                               known.empty() ? "none" : known));
}

// An extension table, or an error that says what is wrong with it. `needed`: its absence is an error.
template <class Table>
Result<const Table *> extension(const DeviceCore &core, const char *id, uint32_t minimum, bool needed) {
    const auto *table = static_cast<const Table *>(core.plugin->get_extension(core.instance, view(id)));
    if (table == nullptr) {
        if (!needed) return nullptr;
        return fail(Code::unsupported,
                    fmt::format("plugin {} offers no {}: it cannot serve as a device", core.plugin->name, id));
    }
    if (table->struct_size < minimum)
        return fail(Code::invalid, fmt::format("plugin {}: its {} table has {} bytes, the smallest ever was {}",
                                               core.plugin->name, id, table->struct_size, minimum));
    return table;
}

} // namespace

Result<TierInfo> DeviceCore::describe_tier(uint32_t tier) const {
    hbf_tier_info raw = unfilled_tier();
    AbiError error;
    const hbf_status status = tier_ext->describe(instance, tier, &raw, error.out());
    if (status != HBF_OK) return tl::unexpected(error.to_error(status, fmt::format("{}: tier {}", label(), tier)));
    return tier_declared(tier, raw, emulated);
}

Result<> DeviceCore::read_tables() {
    auto tier = extension<hbf_tier_ext>(*this, HBF_EXT_TIER, HBF_TIER_EXT_MIN_SIZE, true);
    if (!tier) return tl::unexpected(tier.error());
    auto queue = extension<hbf_queue_ext>(*this, HBF_EXT_QUEUE, HBF_QUEUE_EXT_MIN_SIZE, true);
    if (!queue) return tl::unexpected(queue.error());
    auto coherence = extension<hbf_coherence_ext>(*this, HBF_EXT_COHERENCE, HBF_COHERENCE_EXT_MIN_SIZE, false);
    if (!coherence) return tl::unexpected(coherence.error());
    auto kernels = extension<hbf_kernels_ext>(*this, HBF_EXT_KERNELS, HBF_KERNELS_EXT_MIN_SIZE, false);
    if (!kernels) return tl::unexpected(kernels.error());
    auto health = extension<hbf_health_ext>(*this, HBF_EXT_HEALTH, HBF_HEALTH_EXT_MIN_SIZE, false);
    if (!health) return tl::unexpected(health.error());
    tier_ext = *tier;
    queue_ext = *queue;
    coherence_ext = *coherence;
    kernels_ext = *kernels;
    health_ext = *health;
    if (!tier_ext->describe || !tier_ext->alloc || !tier_ext->free || !queue_ext->info || !queue_ext->create ||
        !queue_ext->destroy || !queue_ext->submit || !queue_ext->poll || !queue_ext->wait || !queue_ext->failure ||
        (coherence_ext && !coherence_ext->describe))
        return fail(Code::invalid, fmt::format("plugin {}: a function that must be there is NULL", plugin->name));
    return {};
}

Result<> DeviceCore::read_facts() {
    for (uint32_t i = 0; i < tier_ext->tier_count; ++i) {
        auto tier = describe_tier(i);
        if (!tier) return tl::unexpected(tier.error());
        tiers.push_back(std::move(*tier));
    }
    for (uint32_t i = 0; coherence_ext != nullptr && i < coherence_ext->domain_count; ++i) {
        hbf_domain_info raw{};
        raw.struct_size = sizeof(raw);
        AbiError error;
        const hbf_status status = coherence_ext->describe(instance, i, &raw, error.out());
        if (status != HBF_OK) return tl::unexpected(error.to_error(status, fmt::format("{}: domain {}", label(), i)));
        // A protocol we do not know is driven like software: the explicit operations are never wrong, only slower.
        domains.push_back({raw.protocol == HBF_PROTOCOL_HARDWARE, raw.granule, raw.agents, raw.atomic_widths,
                           shown_text(raw.name), shown_text(raw.detail)});
    }
    for (const TierInfo &tier : tiers) {
        if (tier.domain && *tier.domain >= domains.size())
            return fail(Code::invalid, fmt::format("{}: tier {} names coherence domain {}, there are {}", label(), tier.name,
                                                   *tier.domain, domains.size()));
        if (tier.cpu_access && tier.domain && !domains[*tier.domain].hardware) has_software_domain = true;
    }
    queue_info.struct_size = sizeof(queue_info);
    AbiError error;
    const hbf_status status = queue_ext->info(instance, &queue_info, error.out());
    if (status != HBF_OK) return tl::unexpected(error.to_error(status, fmt::format("{}: queue facts", label())));
    if (queue_info.max_depth == 0 || queue_info.max_commands == 0)
        return fail(Code::invalid, fmt::format("{}: a queue of depth {} with {} commands is of no use", label(),
                                               queue_info.max_depth, queue_info.max_commands));
    return {};
}

Result<std::shared_ptr<DeviceCore>> DeviceCore::open(const hbf_plugin *plugin, const DeviceOptions &asked) {
    DeviceOptions options = asked;
    options.system_root = host::machine_root(asked.system_root).string();
    if (plugin == nullptr) return fail(Code::invalid, "no plugin");
    if (plugin->struct_size < HBF_PLUGIN_MIN_SIZE || !plugin->name || !plugin->probe || !plugin->create ||
        !plugin->destroy || !plugin->get_extension)
        return fail(Code::invalid, "the plugin's base table is short or lacks a function");
    auto device = probed(plugin, options);
    if (!device) return tl::unexpected(device.error());

    std::shared_ptr<DeviceCore> core(new DeviceCore);
    core->plugin = plugin;
    core->plugin_name = plugin->name;
    core->id = device->id;
    core->name = device->name;
    core->emulated = device->emulated || !host::emulated_machine(options.system_root).empty();

    const auto list = as_options(options);
    const hbf_create_in in{sizeof(in),     static_cast<uint32_t>(list.size()), host_services(), list.data(),
                           view(core->id), view(options.system_root)};
    AbiError error;
    const hbf_status status = plugin->create(&in, &core->instance, error.out());
    if (status != HBF_OK) {
        core->instance = nullptr; // whatever it wrote: on failure there is none
        return tl::unexpected(error.to_error(status, core->label()));
    }
    if (core->instance == nullptr)
        return fail(Code::internal, fmt::format("{}: create reports success without an instance", core->label()));
    if (auto done = core->read_tables(); !done) return tl::unexpected(done.error());
    if (auto done = core->read_facts(); !done) return tl::unexpected(done.error());

    if (options.litmus) {
        auto reports = verify_coherence(*core, LitmusKey{options.plugin_sha256, device->driver, options.boot_id});
        if (!reports) return tl::unexpected(reports.error());
        core->litmus = std::move(*reports);
    }

    const auto entry = device_table().add();
    core->number = entry.number;
    entry.entry->core = core;
    entry.entry->published.store(true, std::memory_order_release);
    return core;
}

DeviceCore::~DeviceCore() {
    if (instance == nullptr) return;
    regions.each([this](RegionSlot &slot) { (void)drop_peers(slot); }); // no other device may keep dead memory registered
    plugin->destroy(instance);
}

} // namespace hbf::fabric
