// SPDX-License-Identifier: Apache-2.0
// Errors, temperatures, power and clocks, as the device's counters stand.
#include "conformance/emulators/amd/smi/smi.hpp"

namespace hbf::emulated::smi {
namespace {

using model::Counter;

constexpr uint64_t counted_blocks = UMC | SDMA | GFX | MMHUB | PCIE_BIF | XGMI_WAFL;

bool one_block(uint64_t block) {
    return block != 0 && (block & (block - 1)) == 0;
}

// Lowest and highest, and where it is now: two frequencies.
rsmi_frequencies_t frequencies(uint64_t now_mhz, uint64_t most_mhz) {
    rsmi_frequencies_t out{};
    out.supported = now_mhz < most_mhz ? 2 : 1;
    out.frequency[0] = now_mhz * 1'000'000;
    if (out.supported == 2) out.frequency[1] = most_mhz * 1'000'000;
    return out;
}

} // namespace

extern "C" {

// Header, rsmi_dev_ecc_enabled_get: a bit a block.
rsmi_status_t rsmi_dev_ecc_enabled_get(uint32_t index, uint64_t *out) {
    return of_device(Call::rsmi_dev_ecc_enabled_get, index, out, [&](model::Device &) { return give(out, counted_blocks); });
}
// Header, rsmi_dev_ecc_status_get: RSMI_RAS_ERR_STATE_ENABLED or _DISABLED of a block.
rsmi_status_t rsmi_dev_ecc_status_get(uint32_t index, uint64_t block, int *out) {
    return of_device(Call::rsmi_dev_ecc_status_get, index, out, [&](model::Device &) -> rsmi_status_t {
        if (!one_block(block)) return INVALID_ARGS;
        return give(out, block & counted_blocks ? int{RAS_ENABLED} : int{RAS_DISABLED});
    });
}
// Header, rsmi_dev_ecc_count_get: memory's errors are those of UMC, links' of XGMI_WAFL.
rsmi_status_t rsmi_dev_ecc_count_get(uint32_t index, uint64_t block, rsmi_error_count_t *out) {
    return of_device(Call::rsmi_dev_ecc_count_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        if (!one_block(block)) return INVALID_ARGS;
        const model::Health &health = device.health();
        if (block == UMC) return give(out, {health.get(Counter::ecc_corrected), health.get(Counter::ecc_uncorrected)});
        if (block == XGMI_WAFL) return give(out, {health.get(Counter::link_errors), 0});
        return block & counted_blocks ? give(out, rsmi_error_count_t{}) : rsmi_status_t{NOT_SUPPORTED};
    });
}

// Header, rsmi_dev_memory_reserved_pages_get: with no records only their number is given.
rsmi_status_t rsmi_dev_memory_reserved_pages_get(uint32_t index, uint32_t *count, rsmi_retired_page_record_t *records) {
    return of_device(Call::rsmi_dev_memory_reserved_pages_get, index, count, [&](model::Device &device) -> rsmi_status_t {
        const auto retired = static_cast<uint32_t>(device.health().get(Counter::pages_retired));
        if (records) {
            if (*count < retired) return INSUFFICIENT_SIZE;
            for (uint32_t i = 0; i < retired; ++i) records[i] = {uint64_t{i} * 4096, 4096, 0};
        }
        return give(count, retired);
    });
}

// Header, rsmi_dev_temp_metric_get: millidegrees; metric 0 is the current value.
rsmi_status_t rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, int metric, int64_t *out) {
    return of_device(Call::rsmi_dev_temp_metric_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        if (metric != 0 || (sensor != EDGE && sensor != JUNCTION && sensor != MEMORY)) return NOT_SUPPORTED;
        const Counter counter = sensor == MEMORY ? Counter::memory_temperature_c : Counter::temperature_c;
        return give(out, static_cast<int64_t>(device.health().get(counter)) * 1000);
    });
}
// Header, rsmi_dev_power_ave_get: microwatts.
rsmi_status_t rsmi_dev_power_ave_get(uint32_t index, uint32_t, uint64_t *out) {
    return of_device(Call::rsmi_dev_power_ave_get, index, out,
                     [&](model::Device &device) { return give(out, device.health().get(Counter::power_mw) * 1000); });
}
// Header, rsmi_dev_gpu_clk_freq_get: hertz.
rsmi_status_t rsmi_dev_gpu_clk_freq_get(uint32_t index, int clock, rsmi_frequencies_t *out) {
    return of_device(Call::rsmi_dev_gpu_clk_freq_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        const model::Health &health = device.health();
        if (clock == CLOCK_SYSTEM)
            return give(out, frequencies(health.get(Counter::clock_mhz), health.get(Counter::max_clock_mhz)));
        if (clock != CLOCK_MEMORY) return NOT_SUPPORTED;
        const uint64_t memory = health.get(Counter::memory_clock_mhz);
        return give(out, frequencies(memory, memory));
    });
}

// Header, rsmi_dev_pci_replay_counter_get: "PCIe replays: the sum of NAK received and NAK generated".
rsmi_status_t rsmi_dev_pci_replay_counter_get(uint32_t index, uint64_t *out) {
    return of_device(Call::rsmi_dev_pci_replay_counter_get, index, out,
                     [&](model::Device &device) { return give(out, device.health().get(Counter::pcie_replays)); });
}

// Header, rsmi_dev_xgmi_error_status: none, one or several since the last reset.
rsmi_status_t rsmi_dev_xgmi_error_status(uint32_t index, int *out) {
    return of_device(Call::rsmi_dev_xgmi_error_status, index, out, [&](model::Device &device) {
        const uint64_t errors = device.health().get(Counter::link_errors);
        return give(out, errors == 0 ? int{XGMI_NO_ERRORS} : errors == 1 ? int{XGMI_ERROR} : int{XGMI_MULTIPLE_ERRORS});
    });
}
// Header, rsmi_dev_xgmi_error_reset: needs root, which nobody has here.
rsmi_status_t rsmi_dev_xgmi_error_reset(uint32_t index) {
    return of_device(Call::rsmi_dev_xgmi_error_reset, index, &index, [](model::Device &) { return PERMISSION; });
}

} // extern "C"
} // namespace hbf::emulated::smi
