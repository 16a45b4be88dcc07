// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/store.hpp"

#include <algorithm>

#include "conformance/sim/words.hpp"

namespace hbf::sim {
namespace {

uint64_t pieces(uint64_t size) {
    return (size + Store::piece - 1) / Store::piece;
}

// [first, second): the lines around a range, as far as the memory goes.
std::pair<uint64_t, uint64_t> lines(uint64_t offset, uint64_t size, uint64_t line, uint64_t end) {
    return {offset / line * line, std::min((offset + size + line - 1) / line * line, end)};
}

} // namespace

Store::Store(Mapping memory, bool sparse) : memory_(std::move(memory)) {
    if (sparse) touched_ = Mapping::zeroed(pieces(memory_.size()), 1);
}

void Store::read(uint64_t offset, std::byte *to, uint64_t size) const noexcept {
    move_words(to, memory_.at(offset), size);
}

void Store::write(uint64_t offset, const std::byte *from, uint64_t size) noexcept {
    if (touched_.size() != 0)
        for (uint64_t i = offset / piece; i <= (offset + size - 1) / piece; ++i) store_byte(touched_.at(i), 1);
    move_words(memory_.at(offset), from, size);
}

bool Store::hole(uint64_t offset, uint64_t size) const noexcept {
    if (touched_.size() == 0) return false;
    for (uint64_t i = offset / piece; i <= (offset + size - 1) / piece; ++i)
        if (load_byte(touched_.at(i)) != 0) return false;
    return true;
}

void Shadow::flush(Store &store, uint64_t offset, uint64_t size) noexcept {
    const auto [begin, end] = lines(offset, size, line_, store.size());
    store.write(begin, memory_.at(begin), end - begin);
}

void Shadow::invalidate(Store &store, uint64_t offset, uint64_t size) noexcept {
    const auto [begin, end] = lines(offset, size, line_, store.size());
    store.read(begin, memory_.at(begin), end - begin);
}

} // namespace hbf::sim
