// SPDX-License-Identifier: Apache-2.0
// Reference, "Field Value Queries". Each value has a result of its own: "the nvmlReturn member must be checked".
#include <chrono>
#include <optional>

#include "conformance/emulators/nvidia/nvml/health.hpp"
#include "conformance/emulators/nvidia/nvml/library.hpp"

namespace hbf::emulated::nvml {
namespace {

enum Field : unsigned int {
    ecc_current = 1,
    ecc_corrected_volatile = 3,
    ecc_uncorrected_volatile = 4,
    ecc_corrected_aggregate = 5,
    ecc_uncorrected_aggregate = 6,
    nvlink_crc_flit_total = 38,
    nvlink_crc_data_total = 45,
    nvlink_replay_total = 52,
    nvlink_recovery_total = 59,
    memory_temperature = 82,
    nvlink_links = 91,
    pcie_replays = 94,
    rows_corrected = 142,
    rows_uncorrected = 143,
    rows_pending = 144,
    rows_failed = 145,
    nvlink_ecc_total = 160,
    c2c_links = 170,
    c2c_status = 171,
    c2c_bandwidth = 172, // MB/s
    c2c_errors = 231,
    c2c_replays = 232,
};

const model::ProfileLink *c2c(model::Device &device, model::LinkState &state) {
    state = machine().host_link(device.index());
    return state.profile && state.profile->kind == "c2c" ? state.profile : nullptr;
}

// Nothing: NOT_SUPPORTED on this device.
std::optional<uint64_t> value(model::Device &device, unsigned int field, unsigned int scope) {
    model::LinkState state;
    switch (field) {
    case ecc_current:
        return ecc_on(device) ? 1 : 0;
    case ecc_corrected_volatile:
    case ecc_corrected_aggregate:
        if (!ecc_on(device)) return {};
        return count_of(device, model::Counter::ecc_corrected);
    case ecc_uncorrected_volatile:
    case ecc_uncorrected_aggregate:
        if (!ecc_on(device)) return {};
        return count_of(device, model::Counter::ecc_uncorrected);
    case nvlink_links:
        return nvlink_count(device);
    case nvlink_crc_flit_total:
        if (nvlink_count(device) == 0) return {};
        return count_of(device, model::Counter::link_errors);
    case nvlink_replay_total:
        if (nvlink_count(device) == 0) return {};
        return count_of(device, model::Counter::link_replays);
    case nvlink_crc_data_total:
    case nvlink_recovery_total:
    case nvlink_ecc_total:
        if (nvlink_count(device) == 0) return {};
        return 0;
    case memory_temperature:
        return count_of(device, model::Counter::memory_temperature_c);
    case pcie_replays:
        return count_of(device, model::Counter::pcie_replays);
    case rows_uncorrected:
        return count_of(device, model::Counter::rows_remapped);
    case rows_corrected:
    case rows_pending:
    case rows_failed:
        return 0;
    case c2c_links:
        return c2c(device, state) ? state.profile->lanes : 0;
    case c2c_status:
        if (!c2c(device, state) || scope >= state.profile->lanes) return {};
        return scope < state.lanes_up ? 1 : 0;
    case c2c_bandwidth:
        if (!c2c(device, state) || scope >= state.profile->lanes) return {};
        return state.bandwidth / state.profile->lanes / 1000000;
    case c2c_errors:
        if (!c2c(device, state)) return {};
        return count_of(device, model::Counter::link_errors);
    case c2c_replays:
        if (!c2c(device, state)) return {};
        return count_of(device, model::Counter::link_replays);
    default:
        return {};
    }
}

bool narrow(unsigned int field) { // unsigned int: states and numbers of links
    return field == ecc_current || field == nvlink_links || field == memory_temperature ||
           (field >= rows_corrected && field <= rows_failed) || (field >= c2c_links && field <= c2c_bandwidth);
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, nvmlFieldValue_t *values) {
    return of_device(Call::nvmlDeviceGetFieldValues, handle, [&](model::Device &device) -> nvmlReturn_t {
        if (count <= 0 || !values) return INVALID_ARGUMENT;
        using namespace std::chrono;
        const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
        for (int i = 0; i < count; ++i) {
            nvmlFieldValue_t &one = values[i];
            const std::optional<uint64_t> found = value(device, one.field, one.scope);
            one.timestamp = now;
            one.latency_us = 0;
            one.result = found ? SUCCESS : NOT_SUPPORTED;
            one.type = narrow(one.field) ? value_unsigned : value_unsigned_long_long;
            one.value.ull = 0;
            if (found && narrow(one.field)) one.value.ui = static_cast<unsigned int>(*found);
            if (found && !narrow(one.field)) one.value.ull = *found;
        }
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::nvml
