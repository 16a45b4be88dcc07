// SPDX-License-Identifier: Apache-2.0
// "hbf.health/1" of a device, by sysman: errors, temperatures, the state of its PCI link.
#pragma once

#include <memory>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/level_zero/context.hpp"

namespace hbf::level_zero {

class SysmanHealth final : public sdk::Health {
public:
    explicit SysmanHealth(const Context &context) : ze_(context.ze), device_(context.device) {}
    std::vector<hbf_reading> read() override;

private:
    void read_errors(std::vector<hbf_reading> &out);
    void read_link(std::vector<hbf_reading> &out);
    void read_temperatures(std::vector<hbf_reading> &out);
    void read_memory(std::vector<hbf_reading> &out);

    const Functions &ze_;
    const ze::Device device_; // the same handle: in this API of sysman a device is cast (ZES_ENABLE_SYSMAN)
};

// nullptr where sysman is off: the log says so.
std::unique_ptr<SysmanHealth> open_health(const Context &context, const sdk::Log &log);

} // namespace hbf::level_zero
