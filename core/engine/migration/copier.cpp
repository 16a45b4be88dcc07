// SPDX-License-Identifier: Apache-2.0
#include "core/engine/migration/copier.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/engine/migration/copy_verified.hpp"
#include "core/engine/trace/trace.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {
namespace {

tl::unexpected<Error> damaged(const TierPool &where, uint64_t offset, int64_t granule) {
    return fail(Code::data_loss,
                fmt::format("tier {} ({}): granule {} of a block is not what its checksum says", to_string(where.tier),
                            where.info.name, granule),
                offset + static_cast<uint64_t>(granule) * granule_size, where.info.name);
}

// What lies at the destination may be these very bytes, from before: then a device that says done too early would be
// believed, and what it does later, from a source that is another block's by then, would be seen by nobody.
void spoil(const Spot &dst, uint64_t bytes, uint64_t &count) noexcept {
    for (uint64_t at = 0; at < bytes; at += granule_size) {
        const uint64_t never_before = ++count * 0x9e3779b97f4a7c15u;
        std::memcpy(dst.address + at, &never_before, sizeof never_before);
        std::memcpy(dst.address + at + granule_size - sizeof never_before, &never_before, sizeof never_before);
    }
}

} // namespace

Copier::~Copier() {
    for (auto &[number, lane] : lanes_) {
        end(lane);
        if (lane.staging.region) (void)cpu_.device.free(lane.staging.region);
    }
}

// Waits for what is in flight; then nothing is held any more. A queue waits at its end for as long as it takes, so one that
// takes for ever is ended nowhere.
bool Copier::end(Lane &lane) noexcept {
    if (!lane.own) { // ended already, as whatever is held waited for
        for (const Lane::Held &held : lane.held) held.pool->free(held.first, held.granules);
        lane.held.clear();
        lane.doubted = false;
        return true;
    }
    Queue &queue = lane.own->queue;
    if (queue.completed() < lane.last) (void)queue.wait(lane.last, patience_);
    const bool finished = queue.completed() >= lane.last;
    if (finished) {
        lane.own.reset();
        for (const Lane::Held &held : lane.held) held.pool->free(held.first, held.granules);
    } else {
        static std::atomic<Kept *> all{nullptr};
        Kept *const mine = lane.own.release();
        mine->next = all.load();
        while (!all.compare_exchange_weak(mine->next, mine)) {
        }
        lane.staging = {};
    }
    lane.held.clear();
    lane.doubted = false;
    return finished;
}

Result<Copier::Lane *> Copier::lane(Device &device, bool with_staging) {
    auto found = lanes_.find(device.number());
    if (found == lanes_.end()) found = lanes_.emplace(device.number(), Lane{device, {}, {}, {}, 0, false}).first;
    Lane &lane = found->second;
    make_room(lane.held);
    if (!lane.own) {
        auto queue = device.create_queue({8, 8});
        if (!queue) return tl::unexpected(queue.error());
        lane.own = std::make_unique<Kept>(Kept{std::move(*queue), nullptr});
        lane.last = 0;
    }
    if (with_staging && !lane.staging.region) {
        auto region = cpu_.device.allocate(cpu_.info.index, longest_);
        if (!region) return tl::unexpected(region.error());
        lane.staging = *region;
    }
    return &lane;
}

Result<> Copier::run(Lane &lane, const Batch &batch, Clock::time_point deadline) {
    Queue &queue = lane.own->queue;
    const auto failed = [&](Error &&error) -> Result<> {
        if (!queue.poisoned()) left_ = !end(lane); // the next transfer begins anew
        return tl::unexpected(std::move(error));
    };
    auto point = queue.submit(batch);
    if (!point) return failed(std::move(point.error()));
    lane.last = point->value;
    const auto now = Clock::now();
    auto done = queue.wait(point->value, deadline > now ? deadline - now : Clock::duration{0});
    if (done) return {};
    if (done.error().code != Code::timeout) return failed(std::move(done.error()));
    (void)queue.cancel(point->value);
    if (queue.completed() < point->value) { // it reached the device, which finishes it for nobody
        last_ = &lane;
        last_value_ = point->value;
    }
    return fail(Code::timeout,
                fmt::format("a transfer was not done by its deadline and was taken back: {}", done.error().message));
}

Result<> Copier::copy(TierPool &to, const Spot &dst, TierPool &from, const Spot &src, uint64_t bytes,
                      Clock::time_point deadline) {
    const trace::Span span("move", bytes);
    last_ = doubted_ = nullptr;
    left_ = false;
    settle();
    if (to.direct && from.direct) {
        if (auto fine = to.device.written_by_cpu(dst.region, dst.offset, bytes); !fine) return fine;
        const int64_t wrong = copy_verified(dst.address, src.address, bytes, src.crc);
        if (wrong >= 0) return damaged(to, dst.offset, wrong);
    } else {
        auto lane = this->lane(to.device, dst.address == nullptr);
        if (!lane) return tl::unexpected(lane.error());
        if (dst.address != nullptr) {
            spoil(dst, bytes, spoilt_);
            if (auto fine = to.device.written_by_cpu(dst.region, dst.offset, bytes); !fine) return fine;
        }
        batch_.clear();
        batch_.copy(dst.region, dst.offset, src.region, src.offset, bytes);
        if (auto done = run(**lane, batch_, deadline); !done) return done;
        if (dst.address == nullptr) { // only now: what the first copy still does to memory is seen
            std::fill_n((*lane)->staging.address, bytes, std::byte{}); // what was there before proves nothing
            if (auto fine = cpu_.device.written_by_cpu((*lane)->staging.region, 0, bytes); !fine) return fine;
            batch_.clear();
            batch_.copy((*lane)->staging.region, 0, dst.region, dst.offset, bytes);
            if (auto done = run(**lane, batch_, deadline); !done) return done;
        }
        const int64_t wrong = find_damage(dst.address == nullptr ? (*lane)->staging.address : dst.address, bytes, src.crc);
        if (wrong >= 0) {
            doubted_ = *lane;
            return damaged(to, dst.offset, wrong);
        }
    }
    std::copy_n(src.crc, bytes / granule_size, dst.crc);
    return {};
}

Result<const std::byte *> Copier::fetch(TierPool &from, const Spot &src, uint64_t bytes, Clock::time_point deadline) {
    const trace::Span span("fetch", bytes);
    last_ = nullptr;
    if (doubted_ == nullptr) left_ = false; // else it is still about that copy's destination
    settle();
    const std::byte *data = src.address;
    if (data == nullptr) {
        auto lane = this->lane(from.device, true);
        if (!lane) return tl::unexpected(lane.error());
        if (auto fine = cpu_.device.written_by_cpu((*lane)->staging.region, 0, bytes); !fine)
            return tl::unexpected(fine.error());
        batch_.clear();
        batch_.copy((*lane)->staging.region, 0, src.region, src.offset, bytes);
        if (auto done = run(**lane, batch_, deadline); !done) return tl::unexpected(done.error());
        data = (*lane)->staging.address;
    }
    const int64_t wrong = find_damage(data, bytes, src.crc);
    if (wrong >= 0) return damaged(from, src.offset, wrong);
    return data;
}

void Copier::free_when_finished(TierPool &pool, uint64_t first, uint32_t granules) noexcept {
    if (left_) return;
    if (Lane *const lane = std::exchange(doubted_, nullptr)) {
        lane->held.push_back({UINT64_MAX, &pool, first, granules});
        lane->doubted = true;
        return;
    }
    if (last_ == nullptr) return pool.free(first, granules);
    last_->held.push_back({last_value_, &pool, first, granules});
    last_ = nullptr;
}

void Copier::settle() noexcept {
    for (auto &[number, lane] : lanes_) {
        if (lane.held.empty()) continue;
        if (lane.doubted) { // what was said to be done may come yet: only the end of its queue says that nothing more will
            (void)end(lane);
            continue;
        }
        const uint64_t done = lane.own->queue.completed();
        std::erase_if(lane.held, [done](const Lane::Held &held) {
            if (held.value > done) return false;
            held.pool->free(held.first, held.granules);
            return true;
        });
    }
}

} // namespace hbf::kv
