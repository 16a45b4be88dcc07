// SPDX-License-Identifier: Apache-2.0
// The public device: nothing thrown leaves it.
#include "hbf/device.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/common/declared.hpp"
#include "core/fabric/device_core.hpp"
#include "core/fabric/queue_core.hpp"

namespace hbf {

Device::Device(std::shared_ptr<fabric::DeviceCore> core) : core_(std::move(core)) {}

Result<Device> Device::open(const hbf_plugin *plugin, const DeviceOptions &options) {
    return guarded([&]() -> Result<Device> {
        auto core = fabric::DeviceCore::open(plugin, options);
        if (!core) return tl::unexpected(core.error());
        return Device(std::move(*core));
    });
}

const std::string &Device::plugin_name() const {
    return core_->plugin_name;
}
const std::string &Device::id() const {
    return core_->id;
}
const std::string &Device::name() const {
    return core_->name;
}
bool Device::emulated() const {
    return core_->emulated;
}
uint32_t Device::number() const {
    return core_->number;
}
std::span<const TierInfo> Device::tiers() const {
    return core_->tiers;
}
std::span<const DomainInfo> Device::domains() const {
    return core_->domains;
}
std::span<const LitmusReport> Device::litmus() const {
    return core_->litmus;
}

Result<TierInfo> Device::refresh(uint32_t tier) const {
    return guarded([&]() -> Result<TierInfo> {
        if (tier >= core_->tiers.size()) return fail(Code::invalid, fmt::format("{} has no tier {}", core_->label(), tier));
        return core_->describe_tier(tier);
    });
}

std::optional<uint32_t> Device::find_tier(std::string_view name) const {
    for (const TierInfo &tier : core_->tiers)
        if (tier.name == name) return tier.index;
    return std::nullopt;
}

Result<RegionInfo> Device::allocate(uint32_t tier, uint64_t size, const AllocateOptions &options) {
    return guarded([&] { return core_->allocate(tier, size, options); });
}

Result<RegionInfo> Device::register_host(std::span<std::byte> memory) {
    return guarded([&] { return core_->register_host(memory); });
}

Result<> Device::free(Region region) {
    return guarded([&] { return core_->free(region); });
}

Result<RegionInfo> Device::describe(Region region) const {
    return guarded([&]() -> Result<RegionInfo> {
        auto *slot = region.device == core_->number ? core_->regions.pin(region.slot, region.generation) : nullptr;
        if (slot == nullptr)
            return fail(Code::invalid, fmt::format("region {}.{} of {} is not there: freed?", region.slot, region.generation,
                                                   core_->label()));
        const RegionInfo info = slot->info;
        slot->unpin();
        return info;
    });
}

Result<> Device::written_by_cpu(Region region, uint64_t offset, uint64_t size) {
    return guarded([&]() -> Result<> {
        auto *slot = region.device == core_->number ? core_->regions.pin(region.slot, region.generation) : nullptr;
        if (slot == nullptr)
            return fail(Code::invalid, fmt::format("region {}.{} of {} is not there: freed?", region.slot, region.generation,
                                                   core_->label()));
        const bool inside = size != 0 && offset <= slot->size && size <= slot->size - offset;
        if (inside)
            if (auto *records = slot->records.load(std::memory_order_acquire)) records->drop(offset, size);
        const uint64_t have = slot->size;
        slot->unpin();
        if (!inside)
            return fail(Code::invalid, fmt::format("{}: bytes {}+{} of a region of {}", core_->label(), offset, size, have),
                        offset);
        return {};
    });
}

Result<Queue> Device::create_queue(const QueueOptions &options) {
    return guarded([&]() -> Result<Queue> {
        auto core = fabric::QueueCore::create(core_, options);
        if (!core) return tl::unexpected(core.error());
        return Queue(std::move(*core));
    });
}

Result<std::vector<HealthReading>> Device::health() const {
    return guarded([&]() -> Result<std::vector<HealthReading>> {
        const hbf_health_ext *ext = core_->health_ext;
        if (ext == nullptr || ext->read == nullptr)
            return fail(Code::unsupported, fmt::format("{} reports no health", core_->label()));
        std::vector<hbf_reading> raw(64);
        uint32_t count = 0;
        for (;;) {
            for (hbf_reading &reading : raw) {
                reading = {};
                reading.struct_size = sizeof(hbf_reading);
            }
            fabric::AbiError error;
            const hbf_status status = ext->read(core_->instance, raw.data(), sizeof(hbf_reading),
                                                static_cast<uint32_t>(raw.size()), &count, error.out());
            if (status != HBF_OK) return tl::unexpected(error.to_error(status, fmt::format("{}: health", core_->label())));
            if (count <= raw.size()) break;
            if (count > 65536) return fail(Code::internal, fmt::format("{} reports {} readings", core_->label(), count));
            raw.resize(count);
        }
        std::vector<HealthReading> readings;
        for (uint32_t i = 0; i < count; ++i)
            readings.push_back(
                {shown_text(raw[i].name), shown_text(raw[i].unit), raw[i].kind == HBF_READING_COUNTER, raw[i].value});
        return readings;
    });
}

Result<std::vector<std::string>> Device::kernels() const {
    return guarded([&] { return core_->kernel_names(); });
}

Result<KernelInfo> Device::find_kernel(std::string_view name) const {
    return guarded([&] { return core_->find_kernel(name); });
}

} // namespace hbf
