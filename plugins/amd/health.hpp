// SPDX-License-Identifier: Apache-2.0
// What a device says of itself, by ROCm SMI: errors of memory and links, retired pages, temperature.
#pragma once

#include <memory>
#include <string>

#include "hbf/sdk/instance.hpp"
#include "plugins/amd/library.hpp"

namespace hbf::amd {

class Health final : public sdk::Health {
public:
    // nullptr where there is no SMI, or it does not know the device; the reason in `why`.
    static std::unique_ptr<Health> open(const std::string &pci_address, std::string &why);
    std::vector<hbf_reading> read() override;
    std::string partitions() const; // "NPS1, SPX"; "" where it does not tell

private:
    Health(const Smi &smi, uint32_t index) : smi_(smi), index_(index) {}
    const Smi &smi_;
    const uint32_t index_;
};

} // namespace hbf::amd
