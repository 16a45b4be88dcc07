// SPDX-License-Identifier: Apache-2.0
#include "pinned_buffers.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>

namespace hbf::host {

void PinnedBuffers::enable(BufferRegistrar &registrar, uint64_t limit) {
    registrar_ = &registrar;
    limit_ = limit;
}

uint64_t PinnedBuffers::add(std::byte *address, uint64_t size) {
    if (!registrar_) return 0;
    std::lock_guard lock(mutex_);
    auto slot = std::find_if(table_.begin(), table_.end(), [](const Range &range) { return range.size == 0; });
    if (slot == table_.end()) return 0;
    // Whole pages are pinned, so a range that starts inside one costs a page more than it has.
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t lead = reinterpret_cast<uintptr_t>(address) % page;
    const uint64_t room = limit_ - std::min(limit_, pinned_);
    if (room <= lead) return 0;
    uint64_t take = std::min(size, room - lead);
    // ENOMEM: other rings or programs of this user hold part of the limit. Anything else: memory of a kind that cannot be
    // pinned.
    for (; take >= page; take = take / 2 / page * page) {
        int error = registrar_->set_slot(static_cast<unsigned>(slot - table_.begin()), address, take);
        if (error == 0) break;
        if (error != -ENOMEM) return 0;
    }
    if (take < page) return 0;
    *slot = {address, take};
    pinned_ += take + lead;
    generation_.fetch_add(1, std::memory_order_release);
    return take;
}

void PinnedBuffers::remove(std::byte *address) noexcept {
    if (!registrar_) return;
    std::lock_guard lock(mutex_);
    for (Range &range : table_) {
        if (range.size == 0 || range.begin != address) continue;
        registrar_->set_slot(static_cast<unsigned>(&range - table_.data()), nullptr, 0);
        const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
        pinned_ -= range.size + reinterpret_cast<uintptr_t>(address) % page;
        range = {};
        generation_.fetch_add(1, std::memory_order_release);
        return;
    }
}

int PinnedBuffers::find(const std::byte *data, uint64_t size) {
    if (generation_.load(std::memory_order_acquire) != seen_generation_) {
        std::lock_guard lock(mutex_);
        seen_ = table_;
        seen_generation_ = generation_.load(std::memory_order_relaxed);
        used_ = slots;
        while (used_ > 0 && seen_[used_ - 1].size == 0) --used_;
        last_ = 0;
    }
    auto holds = [&](unsigned slot) {
        const Range &range = seen_[slot];
        return data >= range.begin && static_cast<uint64_t>(data - range.begin) < range.size &&
               size <= range.size - static_cast<uint64_t>(data - range.begin);
    };
    if (last_ < used_ && holds(last_)) return static_cast<int>(last_);
    for (unsigned slot = 0; slot < used_; ++slot) {
        if (!holds(slot)) continue;
        last_ = slot;
        return static_cast<int>(slot);
    }
    return -1;
}

uint64_t pinned_limit() {
    constexpr uint64_t ours = 256ull << 20; // pinning takes time and memory that nobody else can use
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ours;
    return std::min<uint64_t>(limit.rlim_cur, ours);
}

} // namespace hbf::host
