// SPDX-License-Identifier: Apache-2.0
// What a device counts of its own state. [device.counters] of a profile sets where each begins, by these names.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "conformance/sim/model/export.hpp"

namespace hbf::model {

enum class Counter : uint8_t {
    ecc_corrected, // errors of memory since start
    ecc_uncorrected,
    pages_retired,
    rows_remapped,
    pcie_replays,
    link_errors, // of links to peers: CRC
    link_replays,
    throttle_ms,   // how long clocks were held down
    temperature_c, // states from here on: what they are now
    memory_temperature_c,
    power_mw,
    clock_mhz,
    memory_clock_mhz,
    max_clock_mhz,
    throttled, // 1: clocks are held down now
};
inline constexpr uint32_t counter_count = static_cast<uint32_t>(Counter::throttled) + 1;

HBF_MODEL_API std::string_view to_string(Counter counter) noexcept; // "ecc_corrected"
HBF_MODEL_API std::optional<Counter> counter_named(std::string_view name) noexcept;

class HBF_MODEL_API Health {
public:
    uint64_t get(Counter counter) const noexcept { return at(counter).load(std::memory_order_relaxed); }
    void add(Counter counter, uint64_t n) noexcept { at(counter).fetch_add(n, std::memory_order_relaxed); }
    void set(Counter counter, uint64_t to) noexcept { at(counter).store(to, std::memory_order_relaxed); }

private:
    std::atomic<uint64_t> &at(Counter counter) noexcept { return counters_[static_cast<uint32_t>(counter)]; }
    const std::atomic<uint64_t> &at(Counter counter) const noexcept { return counters_[static_cast<uint32_t>(counter)]; }

    std::array<std::atomic<uint64_t>, counter_count> counters_{};
};

} // namespace hbf::model
