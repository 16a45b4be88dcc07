// SPDX-License-Identifier: Apache-2.0
// "hbf.health/1" by CNDev.
#pragma once

#include <string>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/cambricon/library.hpp"

namespace hbf::cambricon {

class CambriconHealth final : public sdk::Health {
public:
    // Throws sdk::Failure where CNDev is not there or does not know the device.
    CambriconHealth(const Cndev &dev, const std::string &pci_address);
    std::vector<hbf_reading> read() override;

private:
    const Cndev &dev_;
    int device_ = 0;
};

} // namespace hbf::cambricon
