// SPDX-License-Identifier: Apache-2.0
#include "core/engine/migration/pool.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include <fmt/format.h>

namespace hbf::kv {
namespace {

// 64 MiB, or more where the longest run or the number of slabs asks for it.
uint64_t slab_size(uint64_t budget, uint32_t longest, uint64_t most_slabs) {
    uint64_t granules = 1024;
    while (granules < longest || budget / granules > most_slabs / 2) granules *= 2;
    return std::max<uint64_t>(longest, std::min(granules, budget));
}

} // namespace

TierPool::TierPool(Tier which, Device of, TierInfo facts, bool coherent, uint64_t budget, uint32_t longest)
    : tier(which), device(std::move(of)), info(std::move(facts)), direct(coherent && info.cpu_access),
      slab_granules_(slab_size(budget / granule_size, longest, most_slabs)),
      slabs_(std::make_unique<std::atomic<Slab *>[]>(most_slabs)), budget_(budget / granule_size) {}

TierPool::~TierPool() {
    for (uint64_t i = 0; i < slab_end_; ++i) {
        Slab *const slab = slabs_[i].load();
        if (slab == nullptr) continue;
        (void)device.free(slab->region.region); // busy only if work is still in flight there: then it goes with the device
        delete slab;
    }
}

int64_t TierPool::find_run(const Slab &slab, uint32_t granules) const noexcept {
    uint64_t run = 0;
    for (uint64_t i = 0; i < slab_granules_; ++i) {
        if (i % 64 == 0 && slab.busy[i / 64] == ~uint64_t{0}) {
            run = 0;
            i += 63;
            continue;
        }
        run = busy(slab, i) ? 0 : run + 1;
        if (run == granules) return static_cast<int64_t>(i + 1 - granules);
    }
    return -1;
}

void TierPool::mark(Slab &slab, uint64_t first, uint32_t granules, bool on) noexcept {
    for (uint64_t i = first; i < first + granules; ++i) {
        const uint64_t bit = uint64_t{1} << (i % 64);
        slab.busy[i / 64] = on ? slab.busy[i / 64] | bit : slab.busy[i / 64] & ~bit;
    }
    slab.free = on ? slab.free - granules : slab.free + granules;
}

Result<uint64_t> TierPool::allocate(uint32_t granules) {
    std::lock_guard lock(mutex_);
    if (used_ + granules > budget_)
        return fail(Code::exhausted, fmt::format("tier {}: {} of {} granules are in use", to_string(tier), used_, budget_));
    for (uint64_t i = 0; i < slab_end_; ++i) {
        Slab *const slab = slabs_[i].load(std::memory_order_relaxed);
        if (slab == nullptr || slab->free < granules) continue;
        const int64_t at = find_run(*slab, granules);
        if (at < 0) continue;
        mark(*slab, static_cast<uint64_t>(at), granules, true);
        used_ += granules;
        return i * slab_granules_ + static_cast<uint64_t>(at);
    }
    auto made = add_slab();
    if (!made) return made;
    mark(*slabs_[*made].load(std::memory_order_relaxed), 0, granules, true);
    used_ += granules;
    return *made * slab_granules_;
}

Result<uint64_t> TierPool::add_slab() {
    // The last slab may reach beyond the budget: used_ is what keeps to it.
    if (slab_count_ * slab_granules_ >= budget_)
        return fail(Code::exhausted, fmt::format("tier {}: no run of neighbours is free in {} granules; defragment()",
                                                 to_string(tier), budget_));
    uint64_t slot = 0;
    while (slot < slab_end_ && slabs_[slot].load(std::memory_order_relaxed) != nullptr) ++slot;
    if (slot == most_slabs) return fail(Code::exhausted, "more slabs than a pool may have; open the cache with this budget");
    auto slab = std::make_unique<Slab>();
    slab->busy.assign((slab_granules_ + 63) / 64, 0);
    if (slab_granules_ % 64 != 0) slab->busy.back() = ~uint64_t{0} << (slab_granules_ % 64); // never there
    slab->crc = std::make_unique<uint32_t[]>(slab_granules_);
    slab->owner = std::make_unique<BlockId[]>(slab_granules_);
    std::fill_n(slab->owner.get(), slab_granules_, no_block);
    slab->free = static_cast<uint32_t>(slab_granules_);
    auto region = device.allocate(info.index, slab_granules_ * granule_size);
    if (!region) {
        Error error = std::move(region.error());
        error.message = fmt::format("tier {} ({}): {}", to_string(tier), info.name, error.message);
        return tl::unexpected(std::move(error));
    }
    slab->region = *region;
    slabs_[slot].store(slab.release(), std::memory_order_release);
    slab_end_ = std::max(slab_end_, slot + 1);
    ++slab_count_;
    return slot;
}

void TierPool::free_locked(uint64_t first, uint32_t granules) noexcept {
    Slab &slab = *slabs_[first / slab_granules_].load(std::memory_order_relaxed);
    mark(slab, first % slab_granules_, granules, false);
    used_ -= granules;
}

void TierPool::free(uint64_t first, uint32_t granules) noexcept {
    std::lock_guard lock(mutex_);
    free_locked(first, granules);
}

// Blocks are let go by destructors too, so nothing may be thrown; less is asked for where a vector would double.
void TierPool::retire(uint64_t first, uint32_t granules, uint64_t epoch) noexcept {
    std::lock_guard lock(mutex_);
    for (const size_t more : {retired_.size(), size_t{16}}) {
        if (retired_.size() < retired_.capacity()) break;
        try {
            retired_.reserve(retired_.size() + std::max<size_t>(more, 16));
        } catch (const std::bad_alloc &) {
            continue;
        }
    }
    if (retired_.size() == retired_.capacity()) return; // lost to this pool until it is closed, and counted as used
    retired_.push_back({first, epoch, granules});
    waiting_ += granules;
}

void TierPool::collect(const Epochs &epochs) noexcept {
    std::lock_guard lock(mutex_);
    std::erase_if(retired_, [&](const Retired &one) {
        if (!epochs.passed(one.epoch)) return false;
        free_locked(one.first, one.granules);
        waiting_ -= one.granules;
        return true;
    });
}

Spot TierPool::at(uint64_t granule) const noexcept {
    const Slab &slab = *slabs_[granule / slab_granules_].load(std::memory_order_acquire);
    const uint64_t inside = granule % slab_granules_, offset = inside * granule_size;
    return {slab.region.region, offset, slab.region.address == nullptr ? nullptr : slab.region.address + offset,
            slab.crc.get() + inside};
}

void TierPool::set_owner(uint64_t first, uint32_t granules, BlockId block) noexcept {
    std::fill_n(slabs_[first / slab_granules_].load()->owner.get() + first % slab_granules_, granules, block);
}

BlockId TierPool::owner(uint64_t granule) const noexcept {
    return slabs_[granule / slab_granules_].load()->owner[granule % slab_granules_];
}

std::vector<uint64_t> TierPool::slabs() const {
    std::lock_guard lock(mutex_);
    std::vector<uint64_t> all;
    for (uint64_t i = 0; i < slab_end_; ++i)
        if (slabs_[i].load() != nullptr) all.push_back(i * slab_granules_);
    return all;
}

std::vector<uint64_t> TierPool::slabs_by_use() const {
    auto all = slabs();
    std::lock_guard lock(mutex_);
    std::stable_sort(all.begin(), all.end(), [&](uint64_t a, uint64_t b) {
        return slabs_[a / slab_granules_].load()->free > slabs_[b / slab_granules_].load()->free;
    });
    return all;
}

uint64_t TierPool::budget() const {
    std::lock_guard lock(mutex_);
    return budget_;
}

void TierPool::set_budget(uint64_t bytes) noexcept {
    std::lock_guard lock(mutex_);
    budget_ = bytes / granule_size;
}

void TierPool::trim() noexcept {
    std::lock_guard lock(mutex_);
    for (uint64_t i = slab_end_; i-- > 0 && (slab_count_ - 1) * slab_granules_ >= budget_ && slab_count_ > 0;) {
        Slab *const slab = slabs_[i].load();
        if (slab == nullptr || slab->free != slab_granules_) continue;
        if (!device.free(slab->region.region)) continue; // busy: another time
        slabs_[i].store(nullptr);
        delete slab;
        --slab_count_;
    }
}

uint64_t TierPool::used() const {
    std::lock_guard lock(mutex_);
    return used_;
}

uint64_t TierPool::waiting() const {
    std::lock_guard lock(mutex_);
    return waiting_;
}

double TierPool::fragmentation(uint32_t unit) const {
    std::lock_guard lock(mutex_);
    uint64_t free = 0, usable = 0;
    for (uint64_t s = 0; s < slab_end_; ++s) {
        const Slab *const slab = slabs_[s].load();
        if (slab == nullptr) continue;
        free += slab->free;
        for (uint64_t i = 0, run = 0; i <= slab_granules_; ++i) {
            if (i < slab_granules_ && !busy(*slab, i)) {
                ++run;
                continue;
            }
            usable += run / unit * unit;
            run = 0;
        }
    }
    const uint64_t untouched = budget_ > slab_count_ * slab_granules_ ? budget_ - slab_count_ * slab_granules_ : 0;
    free += untouched;
    usable += untouched / unit * unit;
    return free < unit ? 0 : 1.0 - static_cast<double>(usable) / static_cast<double>(free);
}

uint64_t TierPool::metadata_bytes() const {
    std::lock_guard lock(mutex_);
    return slab_count_ *
           (sizeof(Slab) + slab_granules_ * (sizeof(uint32_t) + sizeof(BlockId)) + (slab_granules_ + 63) / 64 * 8);
}

} // namespace hbf::kv
