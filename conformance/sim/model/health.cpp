// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/health.hpp"

namespace hbf::model {
namespace {

constexpr std::array<std::string_view, counter_count> names = {
    "ecc_corrected", "ecc_uncorrected", "pages_retired",    "rows_remapped", "pcie_replays",
    "link_errors",   "link_replays",    "throttle_ms",      "temperature_c", "memory_temperature_c",
    "power_mw",      "clock_mhz",       "memory_clock_mhz", "max_clock_mhz", "throttled",
};

} // namespace

std::string_view to_string(Counter counter) noexcept {
    return names[static_cast<uint32_t>(counter)];
}

std::optional<Counter> counter_named(std::string_view name) noexcept {
    for (uint32_t i = 0; i < counter_count; ++i)
        if (names[i] == name) return static_cast<Counter>(i);
    return std::nullopt;
}

} // namespace hbf::model
