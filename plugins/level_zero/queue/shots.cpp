// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/queue/shots.hpp"

#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {

ShotStore::~ShotStore() {
    for (Shot &shot : all_)
        if (shot.event) ze_.zeEventDestroy(shot.event);
    for (const ze::Pool pool : pools_) ze_.zeEventPoolDestroy(pool);
}

void ShotStore::grow() {
    constexpr uint32_t count = 256;
    pools_.reserve(pools_.size() + 1);
    free_.reserve(all_.size() + count);
    ze::PoolDesc pool_desc;
    pool_desc.flags = ze::host_visible;
    pool_desc.count = count;
    ze::Pool pool = nullptr;
    check(ze_.zeEventPoolCreate(context_, &pool_desc, 1, &device_, &pool), "zeEventPoolCreate");
    pools_.push_back(pool);
    for (uint32_t i = 0; i < count; ++i) {
        // Host scope both ways: what was written is written back to where the CPU sees it, and what the CPU wrote is
        // fetched.
        ze::EventDesc desc;
        desc.index = i;
        desc.signal = desc.wait = ze::scope_host;
        ze::Event event = nullptr;
        check(ze_.zeEventCreate(pool, &desc, &event), "zeEventCreate");
        Shot &shot = all_.emplace_back();
        shot.event = event;
        free_.push_back(&shot);
    }
}

void ShotStore::take(uint32_t count, std::vector<Shot *> &out) {
    const std::lock_guard lock(mutex_);
    out.reserve(out.size() + count);
    while (free_.size() < count) grow();
    for (; count != 0; --count) {
        out.push_back(free_.back());
        free_.pop_back();
    }
}

void ShotStore::give_back(const std::vector<Shot *> &shots) noexcept {
    const std::lock_guard lock(mutex_);
    for (Shot *const shot : shots) free_.push_back(shot);
}

ShotStore::Lent::Lent(ShotStore &store) : store_(store) {
    // One that another queue's barrier still waits for is left to its owner to be.
    store_.take(1, shots_);
    while (shots_.back()->users.load(std::memory_order_acquire) != 0) store_.take(1, shots_);
    std::swap(shots_.front(), shots_.back());
    if (const ze::Result code = store_.ze_.zeEventHostReset(shots_.front()->event); code != ze::success) {
        store_.give_back(shots_);
        check(code, "zeEventHostReset");
    }
}

} // namespace hbf::level_zero
