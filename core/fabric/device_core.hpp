// SPDX-License-Identifier: Apache-2.0
// An opened instance of a plugin: its tables, the facts it declared, its regions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/abi_error.hpp"
#include "core/fabric/crc_kernel.hpp"
#include "core/fabric/region_slots.hpp"
#include "hbf/abi/coherence.h"
#include "hbf/abi/health.h"
#include "hbf/abi/kernels.h"
#include "hbf/abi/plugin.h"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"
#include "hbf/device.hpp"

namespace hbf::fabric {

// Alive while a Device, a Queue, or work in flight holds it. The last one out destroys the instance.
class DeviceCore : public std::enable_shared_from_this<DeviceCore> {
public:
    static Result<std::shared_ptr<DeviceCore>> open(const hbf_plugin *plugin, const DeviceOptions &options);
    ~DeviceCore();
    DeviceCore(const DeviceCore &) = delete;
    DeviceCore &operator=(const DeviceCore &) = delete;

    Result<RegionInfo> allocate(uint32_t tier, uint64_t size, const AllocateOptions &options);
    Result<RegionInfo> register_host(std::span<std::byte> memory);
    Result<> free(Region region);

    // This device's handle for another device's region, registering its memory here the first time. The region is pinned
    // by the caller. Not for regions without a CPU address or in a software domain.
    Result<hbf_region> peer_handle(RegionSlot &foreign);
    bool can_register() const { return tier_ext->register_host != nullptr; }

    Result<TierInfo> describe_tier(uint32_t tier) const;

    // kernels.cpp
    Result<std::vector<std::string>> kernel_names() const;
    Result<KernelInfo> find_kernel(std::string_view wanted) const;
    const CrcKernel *crc_kernel(); // looked for at the first call; nullptr: none, which was logged with its reason

    std::string label() const { return plugin_name + ":" + id; } // "host:host0"

    // The engine's tables; fixed once open returned.
    const hbf_plugin *plugin = nullptr;
    hbf_instance *instance = nullptr;
    const hbf_tier_ext *tier_ext = nullptr;
    const hbf_queue_ext *queue_ext = nullptr;
    const hbf_coherence_ext *coherence_ext = nullptr; // may be nullptr, as the next two
    const hbf_kernels_ext *kernels_ext = nullptr;
    const hbf_health_ext *health_ext = nullptr;

    uint32_t number = 0;
    std::string plugin_name, id, name;
    bool emulated = false;
    std::vector<TierInfo> tiers;
    std::vector<DomainInfo> domains;
    std::vector<LitmusReport> litmus;
    hbf_queue_info queue_info{};
    bool has_software_domain = false; // with a tier the CPU reaches

    RegionSlots regions;

private:
    DeviceCore() = default;

    Result<> read_tables();
    Result<> read_facts();
    RegionInfo publish(uint32_t slot, const hbf_region_info &info, uint32_t tier, std::string &title, bool spilled);
    Result<> drop_peers(RegionSlot &slot);

    std::once_flag crc_once_;
    std::optional<CrcKernel> crc_;
};

} // namespace hbf::fabric
