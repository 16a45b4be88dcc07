// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/health.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"

namespace hbf::level_zero {
namespace {

void add(std::vector<hbf_reading> &out, hbf_reading_kind kind, const std::string &name, uint64_t value, const char *unit) {
    hbf_reading reading{};
    reading.struct_size = sizeof reading;
    reading.kind = kind;
    reading.value = value;
    sdk::set_text(reading.name, name);
    sdk::set_text(reading.unit, unit);
    out.push_back(reading);
}

// Handles of one kind; none where the driver has none, or does not say.
template <class Handle>
std::vector<Handle> list(ze::Result (*enumerate)(ze::Device, uint32_t *, Handle *), ze::Device device) {
    uint32_t count = 0;
    if (!enumerate || enumerate(device, &count, nullptr) != ze::success) return {};
    std::vector<Handle> out(std::min(count, 64u));
    count = static_cast<uint32_t>(out.size());
    if (count == 0 || enumerate(device, &count, out.data()) != ze::success) return {};
    out.resize(std::min<size_t>(count, out.size()));
    return out;
}

} // namespace

void SysmanHealth::read_errors(std::vector<hbf_reading> &out) {
    constexpr const char *names[ze::ras_categories] = {"resets",      "programming", "driver", "compute",
                                                       "non_compute", "cache",       "display"};
    if (!ze_.zesRasGetProperties || !ze_.zesRasGetState) return;
    uint32_t number = 0;
    for (const ze::SysRas set : list(ze_.zesDeviceEnumRasErrorSets, device_)) {
        ze::SysRasProperties properties{};
        ze::SysRasState state{};
        // Not cleared: others count with the same counters.
        if (ze_.zesRasGetProperties(set, &properties) != ze::success || ze_.zesRasGetState(set, 0, &state) != ze::success)
            continue;
        const char *const type = properties.type == 0 ? "correctable" : "uncorrectable";
        for (uint32_t i = 0; i < ze::ras_categories; ++i)
            add(out, HBF_READING_COUNTER, fmt::format("ras{}.{}.{}", number, type, names[i]), state.category[i], "errors");
        ++number;
    }
}

void SysmanHealth::read_link(std::vector<hbf_reading> &out) {
    if (ze::SysPciStats stats{}; ze_.zesDevicePciGetStats && ze_.zesDevicePciGetStats(device_, &stats) == ze::success)
        add(out, HBF_READING_COUNTER, "pcie.replays", stats.replayCounter, "errors");
    ze::SysPciState state{};
    if (!ze_.zesDevicePciGetState || ze_.zesDevicePciGetState(device_, &state) != ze::success) return;
    if (state.speed.gen > 0) add(out, HBF_READING_GAUGE, "pcie.generation", static_cast<uint64_t>(state.speed.gen), "");
    if (state.speed.width > 0) add(out, HBF_READING_GAUGE, "pcie.width", static_cast<uint64_t>(state.speed.width), "lanes");
}

void SysmanHealth::read_temperatures(std::vector<hbf_reading> &out) {
    if (!ze_.zesTemperatureGetProperties || !ze_.zesTemperatureGetState) return;
    for (const ze::SysTemperature sensor : list(ze_.zesDeviceEnumTemperatureSensors, device_)) {
        ze::SysTempProperties properties{};
        double celsius = 0;
        if (ze_.zesTemperatureGetProperties(sensor, &properties) != ze::success || properties.type > 2 ||
            ze_.zesTemperatureGetState(sensor, &celsius) != ze::success || celsius < 0)
            continue;
        constexpr const char *names[] = {"global", "gpu", "memory"};
        add(out, HBF_READING_GAUGE, fmt::format("temperature.{}", names[properties.type]), static_cast<uint64_t>(celsius),
            "celsius");
    }
}

void SysmanHealth::read_memory(std::vector<hbf_reading> &out) {
    if (!ze_.zesMemoryGetState) return;
    uint32_t number = 0;
    for (const ze::SysMemory memory : list(ze_.zesDeviceEnumMemoryModules, device_)) {
        ze::SysMemState state{};
        if (ze_.zesMemoryGetState(memory, &state) != ze::success) continue;
        add(out, HBF_READING_GAUGE, fmt::format("memory{}.free", number), state.free, "bytes");
        add(out, HBF_READING_GAUGE, fmt::format("memory{}.health", number), state.health, ""); // 1 is well
        ++number;
    }
}

std::vector<hbf_reading> SysmanHealth::read() {
    std::vector<hbf_reading> out;
    read_errors(out);
    read_link(out);
    read_temperatures(out);
    read_memory(out);
    return out;
}

std::unique_ptr<SysmanHealth> open_health(const Context &context, const sdk::Log &log) {
    const char *const enabled = std::getenv("ZES_ENABLE_SYSMAN");
    if (!enabled || std::string_view(enabled) != "1") {
        log.info(fmt::format("{}: no health readings: sysman is off; remedy: ZES_ENABLE_SYSMAN=1 in the environment",
                             context.facts.name));
        return nullptr;
    }
    if (!context.ze.zesDeviceEnumRasErrorSets && !context.ze.zesDevicePciGetStats) {
        log.info(fmt::format("{}: no health readings: the loader has no sysman", context.facts.name));
        return nullptr;
    }
    return std::make_unique<SysmanHealth>(context);
}

} // namespace hbf::level_zero
