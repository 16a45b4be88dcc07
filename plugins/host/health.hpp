// SPDX-License-Identifier: Apache-2.0
// What the host says of itself: memory errors (EDAC), PCIe errors (AER), throttling, temperature.
#pragma once

#include <filesystem>

#include "hbf/sdk/instance.hpp"

namespace hbf::host {

class HostHealth final : public sdk::Health {
public:
    explicit HostHealth(std::filesystem::path root) : root_(std::move(root)) {}
    // Only what the machine really shows: a counter that cannot be read is left out, not reported as zero.
    std::vector<hbf_reading> read() override;

private:
    std::filesystem::path root_;
};

} // namespace hbf::host
