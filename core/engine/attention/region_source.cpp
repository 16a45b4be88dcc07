// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/region_source.hpp"

#include <fmt/format.h>

namespace hbf::kv {

Result<std::unique_ptr<RegionSource>> RegionSource::open(const Device &device, Region region, Integrity integrity) {
    const auto info = device.describe(region);
    if (!info) return tl::unexpected(info.error());
    return std::unique_ptr<RegionSource>(new RegionSource(device, region, info->size, integrity));
}

RegionSource::~RegionSource() {
    queue_ = Queue(); // waits for what is in flight
    if (memory_) (void)device_.free(memory_);
}

Result<> RegionSource::attach(std::span<std::byte> memory) {
    if (memory_) return fail(Code::invalid, "memory is attached already");
    const auto info = device_.register_host(memory);
    if (!info)
        return fail(info.error().code, fmt::format("memory for blocks cannot be registered with device {}: {}", device_.id(),
                                                   info.error().message));
    memory_ = info->region;
    return fresh_queue();
}

Result<> RegionSource::fresh_queue() {
    auto queue = device_.create_queue();
    if (!queue) return tl::unexpected(queue.error());
    queue_ = std::move(*queue);
    return {};
}

// Neighbours on both sides become one copy: drives and links like them long.
Result<uint64_t> RegionSource::start(std::span<const Fetch> fetches) {
    if (!memory_) return fail(Code::invalid, "no memory is attached");
    if (!queue_.poisoned())
        if (auto fresh = fresh_queue(); !fresh) return tl::unexpected(fresh.error());
    merged_.clear();
    for (const Fetch &fetch : fetches) {
        Fetch *const last = merged_.empty() ? nullptr : &merged_.back();
        if (last && last->offset + last->size == fetch.offset && last->into + last->size == fetch.into)
            last->size += fetch.size;
        else
            merged_.push_back(fetch);
    }
    batch_.clear();
    for (const Fetch &piece : merged_) batch_.copy(memory_, piece.into, region_, piece.offset, piece.size, integrity_);
    const auto point = queue_.submit(batch_);
    if (!point) return tl::unexpected(point.error());
    return point->value;
}

Result<> RegionSource::wait(uint64_t ticket) {
    const auto done = queue_.wait(ticket);
    if (!done) return tl::unexpected(done.error());
    return {};
}

void RegionSource::discard(uint64_t ticket) noexcept {
    (void)queue_.cancel(ticket); // what has reached the device is finished
    (void)queue_.wait(ticket);
}

} // namespace hbf::kv
