// SPDX-License-Identifier: Apache-2.0
// The front door: configuration, selection and the opened devices of this host.
//
//     auto system = hbf::System::open();
//     if (!system) return report(system.error());
//     hbf::Device &device = system->devices().front();
#pragma once

#include <vector>

#include "hbf/config.hpp"
#include "hbf/device.hpp"
#include "hbf/selection.hpp"

namespace hbf {

struct SystemOptions {
    ConfigSources config;
    SelectOptions select;
    bool litmus = true;
};

class HBF_API System {
public:
    // Code::unsupported: there is no plugin, or none has a device on this host. Code::unavailable: what should work does
    // not, with every reason; or a pin is not met.
    static Result<System> open(const SystemOptions &options = {});

    const Config &config() const { return config_; }
    const Selection &selection() const { return selection_; }
    std::vector<Device> &devices() { return devices_; } // the primary plugin's first

private:
    Config config_;
    Selection selection_;
    std::vector<Device> devices_;
};

HBF_API std::string_view version() noexcept; // of libhbf

} // namespace hbf
