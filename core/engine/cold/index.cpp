// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/index.hpp"

#include <algorithm>
#include <bit>

namespace hbf::kv::cold {

uint64_t Index::hash(const Key &key) noexcept {
    return IdentityHash()(key.block) ^ (key.part * 0x9e3779b97f4a7c15ull);
}

size_t Index::slot_of(const Key &key) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash(key) & mask;
    while (slots_[slot] != 0 && records_[slots_[slot] - 1].key != key) slot = (slot + 1) & mask;
    return slot;
}

Index::Record *Index::find(const Key &key) noexcept {
    if (slots_.empty()) return nullptr;
    const uint32_t number = slots_[slot_of(key)];
    return number == 0 ? nullptr : &records_[number - 1];
}

void Index::put(const Key &key, const Place &place) {
    if (Record *record = find(key)) {
        record->place = place;
        record->touched = 0;
        return;
    }
    if (4 * (records_.size() + 1) > 3 * slots_.size()) rehash(std::max<size_t>(64, 2 * slots_.size()));
    records_.push_back({key, 0, place});
    slots_[slot_of(key)] = static_cast<uint32_t>(records_.size());
}

bool Index::erase(const Key &key) noexcept {
    if (slots_.empty()) return false;
    size_t gap = slot_of(key);
    if (slots_[gap] == 0) return false;
    const uint32_t number = slots_[gap];
    // The last record takes the place of the one that goes.
    if (number != records_.size()) {
        slots_[slot_of(records_.back().key)] = number;
        records_[number - 1] = records_.back();
    }
    records_.pop_back();
    // What stood behind the gap and would no longer be found moves up.
    const size_t mask = slots_.size() - 1;
    slots_[gap] = 0;
    for (size_t next = (gap + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
        const size_t home = hash(records_[slots_[next] - 1].key) & mask;
        if (((next - home) & mask) < ((next - gap) & mask)) continue;
        slots_[gap] = slots_[next];
        slots_[next] = 0;
        gap = next;
    }
    return true;
}

void Index::clear() noexcept {
    records_.clear();
    slots_.assign(slots_.size(), 0);
}

void Index::reserve(size_t granules) {
    records_.reserve(granules);
    const size_t slots = std::bit_ceil(std::max<size_t>(64, granules + granules / 2));
    if (slots > slots_.size()) rehash(slots);
}

void Index::rehash(size_t slots) {
    std::vector<uint32_t> empty(slots, 0);
    slots_.swap(empty);
    for (size_t i = 0; i < records_.size(); ++i) slots_[slot_of(records_[i].key)] = static_cast<uint32_t>(i + 1);
}

} // namespace hbf::kv::cold
