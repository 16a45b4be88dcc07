// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/bandwidth/suite_target.hpp"

#include <algorithm>

#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {

measure::Buffer buffer_of(const hbf_region_info &region) {
    const Region handle{region.tier + 1, static_cast<uint32_t>(region.region), static_cast<uint32_t>(region.region >> 32)};
    return {handle, region.size, static_cast<std::byte *>(region.address), region.page_size};
}

hbf_region region_of(const Region &region) {
    return uint64_t{region.generation} << 32 | region.slot;
}

uint32_t tier_of(const Region &region) {
    return region.device - 1;
}

SuiteTarget::SuiteTarget(const Instance &device, uint32_t depth, uint32_t commands)
    : device_(&device), depth_(std::clamp(depth, 1u, std::max(1u, device.queue_info().max_depth))),
      commands_(std::clamp(commands, 1u, std::max(1u, device.queue_info().max_commands))),
      queue_(device, depth_, commands_) {
    batch_.reserve(commands_);
}

bool SuiteTarget::software(const Region &region) const {
    const hbf_domain_info *domain = device_->domain_of(tier_of(region));
    return domain && domain->protocol == HBF_PROTOCOL_SOFTWARE && device_->cpu_access(tier_of(region));
}

Result<uint64_t> SuiteTarget::submit(std::span<const measure::Move> moves) {
    batch_.clear();
    for (const auto &move : moves)
        batch_.push_back(
            copy_command(region_of(move.dst), move.dst_offset, region_of(move.src), move.src_offset, move.size));
    if (moves.front().dst == read_by_cpu_ && software(read_by_cpu_)) {
        device_->must_run(queue_, batch_);
        batch_ = {invalidate_command(region_of(read_by_cpu_), moves.front().dst_offset, moves.front().size)};
    }
    uint64_t value = 0;
    const Call call = device_->submit(queue_, batch_, value);
    // No more than `depth` are ever in flight, by what was seen completed.
    must(call, "submit of {} copies, for which a queue {} deep has room by what was seen completed", batch_.size(), depth_);
    return value;
}

Result<> SuiteTarget::wait(uint64_t value) {
    device_->must_complete(queue_, value);
    return {};
}

Result<> SuiteTarget::written_by_cpu(const measure::Buffer &buffer, uint64_t offset, uint64_t size) {
    if (software(buffer.region)) device_->must_run(queue_, {flush_command(region_of(buffer.region), offset, size)});
    return {};
}

} // namespace hbf::conformance
