// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/attend_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/migration/copy_verified.hpp"
#include "core/engine/trace/trace.hpp"

namespace hbf::kv {

PoolSource::~PoolSource() {
    queue_ = Queue(); // waits for what is in flight
    if (holder_ != nullptr) (void)holder_->free(region_);
}

Result<> PoolSource::attach(std::span<std::byte> memory) {
    Result<RegionInfo> info = pool_.device.register_host(memory);
    holder_ = &pool_.device;
    if (!info) { // some devices take none: then the host's own does
        info = cpu_.device.register_host(memory);
        holder_ = &cpu_.device;
    }
    if (!info) {
        holder_ = nullptr;
        return tl::unexpected(info.error());
    }
    region_ = info->region, memory_ = memory;
    auto queue = pool_.device.create_queue();
    if (!queue) return tl::unexpected(queue.error());
    queue_ = std::move(*queue);
    return {};
}

PoolSource::Started &PoolSource::unused() {
    for (Started &one : started_)
        if (!one.used) return one;
    return started_.emplace_back();
}

Result<uint64_t> PoolSource::start(std::span<const Fetch> fetches) {
    if (auto fine = queue_.poisoned(); !fine) return tl::unexpected(fine.error());
    if (stuck_ > queue_.completed()) return fail(Code::timeout, "a transfer that was late has not ended yet");
    return guarded([&]() -> Result<uint64_t> {
        batch_.clear();
        Spot from;
        Fetch piece; // neighbours on both sides become one copy: drives and links like them long
        const auto copy = [&] {
            if (piece.size != 0) batch_.copy(region_, piece.into, from.region, from.offset, piece.size);
        };
        for (const Fetch &fetch : fetches) {
            const Spot spot = pool_.at(fetch.offset / granule_size);
            if (piece.size != 0 && spot.region == from.region && spot.offset == from.offset + piece.size &&
                fetch.into == piece.into + piece.size) {
                piece.size += fetch.size;
                continue;
            }
            copy();
            from = spot, piece = fetch;
        }
        copy();
        Started &one = unused();
        one.fetches.assign(fetches.begin(), fetches.end());
        const auto point = queue_.submit(batch_);
        if (!point) return tl::unexpected(point.error());
        one.ticket = point->value, one.used = true;
        return point->value;
    });
}

Result<> PoolSource::wait(uint64_t ticket) {
    const trace::Span span("wait for blocks");
    const auto done = queue_.wait(ticket, deadline_);
    Result<> outcome;
    if (!done) {
        outcome = tl::unexpected(done.error());
        if (done.error().code == Code::timeout) discard(ticket);
    } else {
        for (const Started &one : started_) {
            if (!one.used || one.ticket != ticket) continue;
            for (const Fetch &fetch : one.fetches) {
                const Spot spot = pool_.at(fetch.offset / granule_size);
                const int64_t wrong = find_damage(memory_.data() + fetch.into, fetch.size, spot.crc);
                if (wrong >= 0 && outcome)
                    outcome = fail(Code::data_loss,
                                   fmt::format("tier {} ({}): granule {} of a block is not what its checksum says",
                                               to_string(pool_.tier), pool_.info.name, wrong));
            }
        }
    }
    finish(ticket);
    return outcome;
}

void PoolSource::finish(uint64_t ticket) noexcept {
    for (Started &one : started_)
        if (one.used && one.ticket == ticket) one.used = false;
}

void PoolSource::discard(uint64_t ticket) noexcept {
    finish(ticket);
    (void)queue_.cancel(ticket);                             // what has reached the device is finished
    if (is_finished()) (void)queue_.wait(ticket, deadline_); // else that was tried, and what comes after it waits too
    if (queue_.completed() < ticket) stuck_ = std::max(stuck_, ticket);
}

} // namespace hbf::kv
