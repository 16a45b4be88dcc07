// SPDX-License-Identifier: Apache-2.0
// A value that is written by one thread at a time and read by another process.
#pragma once

#include <bit>
#include <cstring>
#include <optional>

#include "core/engine/observe/layout.hpp"

namespace hbf::kv::observe {

template <class Value>
void store(Guarded<Value> &row, const Value &value) noexcept {
    uint32_t words[sizeof(Value) / 4];
    std::memcpy(words, &value, sizeof value);
    const uint32_t sequence = row.sequence.load(std::memory_order_relaxed);
    row.sequence.store(sequence + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < std::size(words); ++i) row.words[i].store(words[i], std::memory_order_release); // after it
    row.sequence.store(sequence + 2, std::memory_order_release);
}

// Empty: it was being written each time. Never waits.
template <class Value>
std::optional<Value> load(const Guarded<Value> &row) noexcept {
    constexpr int tries = 100;
    for (int i = 0; i < tries; ++i) {
        const uint32_t before = row.sequence.load(std::memory_order_acquire);
        if (before % 2 != 0) continue;
        uint32_t words[sizeof(Value) / 4];
        for (size_t k = 0; k < std::size(words); ++k) words[k] = row.words[k].load(std::memory_order_acquire); // before it
        if (row.sequence.load(std::memory_order_relaxed) != before) continue;
        Value value;
        std::memcpy(static_cast<void *>(&value), words, sizeof value);
        return value;
    }
    return std::nullopt;
}

} // namespace hbf::kv::observe
