// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/cache.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/sim/words.hpp"

namespace hbf::model {

LineCache::LineCache(std::byte *home, uint64_t size, uint64_t line)
    : home_(home), size_(size), line_(line), lines_(sim::Mapping::zeroed(size, 4096)),
      clean_(sim::Mapping::zeroed(size, 4096)), states_(sim::Mapping::zeroed((size + line - 1) / line, 1)) {}

// each(first byte, bytes, state)
template <class Each>
void LineCache::each_line(uint64_t offset, uint64_t size, Each &&each) {
    if (size == 0) return;
    for (uint64_t i = offset / line_; i <= (offset + size - 1) / line_; ++i)
        each(i * line_, std::min(line_, size_ - i * line_), *states_.at(i));
}

void LineCache::fetch(uint64_t offset, uint64_t size) {
    each_line(offset, size, [&](uint64_t at, uint64_t bytes, std::byte &state) {
        if (state != std::byte{0}) return;
        sim::move_words(lines_.at(at), home_ + at, bytes);
        std::memcpy(clean_.at(at), lines_.at(at), bytes);
        state = std::byte{valid};
    });
}

void LineCache::read(uint64_t offset, std::byte *to, uint64_t size) {
    std::lock_guard lock(mutex_);
    fetch(offset, size);
    sim::move_words(to, lines_.at(offset), size);
}

void LineCache::read_held(uint64_t offset, std::byte *to, uint64_t size) {
    std::lock_guard lock(mutex_);
    sim::move_words(to, lines_.at(offset), size);
}

void LineCache::write(uint64_t offset, const std::byte *from, uint64_t size) {
    std::lock_guard lock(mutex_);
    fetch(offset, size);
    sim::move_words(lines_.at(offset), from, size);
    each_line(offset, size, [](uint64_t, uint64_t, std::byte &state) { state = std::byte{valid | dirty}; });
}

void LineCache::write_back(uint64_t offset, uint64_t size) {
    std::lock_guard lock(mutex_);
    each_line(offset, size, [&](uint64_t at, uint64_t bytes, std::byte &state) {
        if ((state & std::byte{dirty}) == std::byte{0}) return;
        sim::move_words(home_ + at, lines_.at(at), bytes);
        std::memcpy(clean_.at(at), lines_.at(at), bytes);
        state = std::byte{valid};
    });
}

void LineCache::invalidate(uint64_t offset, uint64_t size) {
    std::lock_guard lock(mutex_);
    each_line(offset, size, [](uint64_t, uint64_t, std::byte &state) { state = std::byte{0}; });
}

std::byte *LineCache::begin(uint64_t offset, uint64_t size) {
    std::lock_guard lock(mutex_);
    fetch(offset, size);
    return lines_.at(offset);
}

void LineCache::end(uint64_t offset, uint64_t size) {
    std::lock_guard lock(mutex_);
    each_line(offset, size, [&](uint64_t at, uint64_t bytes, std::byte &state) {
        if (std::memcmp(lines_.at(at), clean_.at(at), bytes) != 0) state = std::byte{valid | dirty};
    });
}

} // namespace hbf::model
