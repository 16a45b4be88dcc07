// SPDX-License-Identifier: Apache-2.0
// The base table over an author's Plugin class.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hbf/abi/plugin.h"
#include "hbf/sdk/plugin.hpp"
#include "hbf/sdk/shell/abi_range.hpp"
#include "hbf/sdk/shell/build_facts.hpp"
#include "hbf/sdk/shell/instance_shell.hpp"
#include "hbf/sdk/shell/optional_shell.hpp"
#include "hbf/sdk/shell/tier_shell.hpp"

namespace hbf::sdk::shell {

inline InstanceShell::InstanceShell(std::unique_ptr<Instance> made, const Log &log) : instance(std::move(made)), log_(log) {
    info = instance->queue_info();
    coherence = instance->coherence();
    kernels = instance->kernels();
    health = instance->health();

    tier_table = {sizeof(hbf_tier_ext),
                  instance->tier_count(),
                  tier_describe,
                  tier_alloc,
                  tier_free,
                  instance->can_register_host() ? tier_register_host : nullptr,
                  nullptr,
                  nullptr};
    const bool can_cancel = (info.capabilities & HBF_QUEUE_CAP_CANCEL) != 0;
    queue_table = {sizeof(hbf_queue_ext),
                   0,
                   queue_info,
                   queue_create,
                   queue_destroy,
                   queue_submit,
                   queue_poll,
                   queue_wait,
                   can_cancel ? queue_cancel : nullptr,
                   queue_failure};
    coherence_table = {sizeof(hbf_coherence_ext), coherence ? coherence->domain_count() : 0, coherence_describe};
    kernels_table = {sizeof(hbf_kernels_ext), kernels ? kernels->kernel_count() : 0, kernels_find, kernels_name};
    health_table = {sizeof(hbf_health_ext), 0, health_read};
}

inline const void *get_extension(hbf_instance *handle, hbf_string id) noexcept {
    if (!handle || !id.data) return nullptr;
    const std::string_view name(id.data, id.size);
    const InstanceShell &shell = *InstanceShell::of(handle);
    if (name == HBF_EXT_TIER) return &shell.tier_table;
    if (name == HBF_EXT_QUEUE) return &shell.queue_table;
    if (name == HBF_EXT_COHERENCE && shell.coherence) return &shell.coherence_table;
    if (name == HBF_EXT_KERNELS && shell.kernels) return &shell.kernels_table;
    if (name == HBF_EXT_HEALTH && shell.health) return &shell.health_table;
    return nullptr;
}

inline void destroy(hbf_instance *handle) noexcept {
    InstanceShell::end(std::unique_ptr<InstanceShell>(InstanceShell::of(handle)));
}

inline Options read_options(const hbf_option *options, uint32_t count) {
    if (count != 0 && !options) fail(HBF_INVALID, "options is NULL but option_count is not 0");
    Options read;
    for (uint32_t i = 0; i < count; ++i) {
        std::string key(view(options[i].key, "an option's key"));
        if (!read.emplace(key, view(options[i].value, "an option's value")).second)
            fail(HBF_INVALID, "option given twice: " + key);
    }
    return read;
}

inline Log read_log(const hbf_host_services *services) {
    if (services && services->struct_size < HBF_HOST_SERVICES_MIN_SIZE)
        fail(HBF_INVALID, "host services: struct_size too small");
    return Log(services);
}

template <class Author>
std::vector<hbf_device_info> find_devices(const ProbeArgs &args) {
    Author plugin;
    std::vector<hbf_device_info> found = plugin.probe(args);
    if (found.empty()) fail(HBF_UNAVAILABLE, "no device found");
    for (hbf_device_info &device : found) {
        terminate(device.id);
        terminate(device.name);
        terminate(device.driver);
        terminate(device.pci_address);
        if (device.id[0] == '\0') fail(HBF_INTERNAL, "the plugin found a device without an id");
    }
    return found;
}

template <class Author>
hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *error) noexcept {
    if (!usable(out, HBF_PROBE_OUT_MIN_SIZE))
        return refuse(error, HBF_INVALID, "probe: out is NULL or its struct_size too small");
    out->device_count = 0;
    if (!usable(in, HBF_PROBE_IN_MIN_SIZE))
        return refuse(error, HBF_INVALID, "probe: in is NULL or its struct_size too small");
    return guard(error, [&] {
        const hbf_probe_in given = read(*in);
        const OutArray<hbf_device_info> array(out->devices, out->device_stride, out->device_capacity);
        array.check(HBF_DEVICE_INFO_MIN_SIZE, "devices");
        const auto found =
            find_devices<Author>({read_options(given.options, given.option_count),
                                  std::string(view(given.system_root, "system_root")), read_log(given.services)});
        array.write(found);
        out->device_count = static_cast<uint32_t>(found.size());
        return HBF_OK;
    });
}

template <class Author>
hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    if (!out) return refuse(error, HBF_INVALID, "create: out is NULL");
    *out = nullptr;
    if (!usable(in, HBF_CREATE_IN_MIN_SIZE))
        return refuse(error, HBF_INVALID, "create: in is NULL or its struct_size too small");
    return guard(error, [&] {
        const hbf_create_in given = read(*in);
        CreateArgs args{std::string(view(given.device_id, "device_id")), read_options(given.options, given.option_count),
                        std::string(view(given.system_root, "system_root")), read_log(given.services)};
        if (args.device_id.empty())
            args.device_id = find_devices<Author>({args.options, args.system_root, args.log}).front().id;
        Author plugin;
        std::unique_ptr<Instance> instance = plugin.create(args);
        if (!instance) fail(HBF_INTERNAL, "the plugin's create returned no instance");
        *out = std::make_unique<InstanceShell>(std::move(instance), args.log).release()->handle();
        return HBF_OK;
    });
}

constexpr bool is_plugin_name(std::string_view name) {
    for (const char c : name)
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
    return !name.empty() && name.size() <= 64 && name[0] >= 'a' && name[0] <= 'z';
}

template <class Author>
struct Tables {
    static constexpr Facts facts = Author::facts;
    static_assert(is_plugin_name(facts.name), "a plugin's name is [a-z][a-z0-9_-]{0,63}, the same as in its manifest");
    static_assert(facts.vendor && facts.version && facts.description && facts.build_id, "a plugin's facts are never NULL");

    static constexpr uint32_t oldest = facts.abi_min > oldest_served ? facts.abi_min : oldest_served;
    static constexpr auto values = for_each_version<oldest>(
        {sizeof(hbf_plugin), HBF_ABI_VERSION, facts.name, facts.vendor, facts.version, facts.description, compiler,
         facts.build_id, sanitizer_kind, 0, probe<Author>, create<Author>, destroy, get_extension});
};

// Pure: one of some constants, or NULL where the two sides have no version in common.
template <class Author>
const hbf_plugin *query(uint32_t host_abi_max, const hbf_host_info *host) noexcept {
    if (!usable(host, HBF_HOST_INFO_MIN_SIZE)) return nullptr;
    const uint32_t version = common_version(host->abi_min, host_abi_max, Tables<Author>::oldest);
    return version ? &Tables<Author>::values[version - Tables<Author>::oldest] : nullptr;
}

} // namespace hbf::sdk::shell
