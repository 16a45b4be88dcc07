// SPDX-License-Identifier: Apache-2.0
// "hbf.health/1" of a device: its error counters, links and clocks, as NVML tells them.
#pragma once

#include <memory>
#include <string>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/health/nvml.hpp"

namespace hbf::nvidia {

class NvmlHealth final : public sdk::Health {
public:
    NvmlHealth(const nvml::Functions &nvml, nvml::Device device) : nvml_(nvml), device_(device) {}
    std::vector<hbf_reading> read() override;
    bool mig() const; // it is cut into instances now

private:
    const nvml::Functions &nvml_;
    const nvml::Device device_;
};

// [any thread] This machine's NVML, started once and kept. Throws sdk::Failure (UNAVAILABLE) with the reason.
const nvml::Functions &nvml_functions();

// nullptr where NVML is missing or does not know the device: the log says so. By PCI address: CUDA counts devices otherwise.
std::unique_ptr<NvmlHealth> open_health(const std::string &pci_address, const sdk::Log &log);

// "550.54.14", the release of the driver; "" where NVML cannot tell.
std::string driver_release();

} // namespace hbf::nvidia
