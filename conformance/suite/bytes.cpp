// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/bytes.hpp"

#include <algorithm>
#include <cstring>

namespace hbf::conformance {
namespace {

constexpr uint64_t staging_size = 1u << 20;

bool software(const Instance &device, const hbf_region_info &region) {
    if (region.tier == HBF_TIER_NONE) return false; // the caller's own memory
    const hbf_domain_info *domain = device.domain_of(region.tier);
    return domain && domain->protocol == HBF_PROTOCOL_SOFTWARE;
}

} // namespace

ByteAccess::ByteAccess(const Instance &device) : device_(&device), queue_(device.must_create_queue()) {}

ByteAccess::~ByteAccess() {
    // Every transfer was waited for, so both are idle; what a faulty plugin makes of it is not this case's question.
    static_cast<void>(device_->destroy_queue(queue_));
    if (staging_.region) static_cast<void>(device_->free(staging_.region));
}

const hbf_region_info &ByteAccess::staging() {
    if (!staging_.region) staging_ = device_->must_alloc(device_->cpu_tier(), staging_size);
    return staging_;
}

void ByteAccess::publish(const hbf_region_info &region, uint64_t offset, uint64_t size) {
    if (size && software(*device_, region)) device_->must_run(queue_, {flush_command(region.region, offset, size)});
}

void ByteAccess::refresh(const hbf_region_info &region, uint64_t offset, uint64_t size) {
    if (size && software(*device_, region)) device_->must_run(queue_, {invalidate_command(region.region, offset, size)});
}

void ByteAccess::write(const hbf_region_info &region, uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    if (region.address) {
        std::memcpy(static_cast<std::byte *>(region.address) + offset, bytes.data(), bytes.size());
        publish(region, offset, bytes.size());
        return;
    }
    for (uint64_t done = 0; done < bytes.size();) {
        const uint64_t piece = std::min<uint64_t>(staging_size, bytes.size() - done);
        write(staging(), 0, bytes.subspan(done, piece));
        device_->must_run(queue_, {copy_command(region.region, offset + done, staging_.region, 0, piece)});
        done += piece;
    }
}

void ByteAccess::read(const hbf_region_info &region, uint64_t offset, std::span<std::byte> bytes) {
    if (bytes.empty()) return;
    if (region.address) {
        refresh(region, offset, bytes.size());
        std::memcpy(bytes.data(), static_cast<const std::byte *>(region.address) + offset, bytes.size());
        return;
    }
    for (uint64_t done = 0; done < bytes.size();) {
        const uint64_t piece = std::min<uint64_t>(staging_size, bytes.size() - done);
        device_->must_run(queue_, {copy_command(staging().region, 0, region.region, offset + done, piece)});
        read(staging_, 0, bytes.subspan(done, piece));
        done += piece;
    }
}

std::vector<std::byte> ByteAccess::read(const hbf_region_info &region, uint64_t offset, uint64_t size) {
    std::vector<std::byte> out(size);
    read(region, offset, out);
    return out;
}

Regions::~Regions() {
    for (const hbf_region region : regions_) static_cast<void>(device_->free(region));
}

hbf_region_info Regions::make(uint32_t tier, uint64_t size, uint64_t alignment) {
    const hbf_region_info out = device_->must_alloc(tier, size, alignment);
    regions_.push_back(out.region);
    return out;
}

Queue::Queue(const Instance &device, uint32_t depth, uint32_t commands)
    : device_(&device), queue_(device.must_create_queue(depth, commands)) {}

Queue::~Queue() {
    // An empty batch's value completes after all others. A plugin that never completes keeps its queue.
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof(hbf_command);
    uint64_t value = 0;
    const hbf_queue_ext &table = device_->queue_table();
    if (table.submit(queue_, &batch, &value, nullptr) == HBF_OK)
        static_cast<void>(table.wait(queue_, value, 2'000'000'000, nullptr));
    static_cast<void>(device_->destroy_queue(queue_));
}

} // namespace hbf::conformance
