// SPDX-License-Identifier: Apache-2.0
// Bytes of any region, behind the plugin's back: through the mapping where there is one that agrees with the device, else by
// commands on a queue of the wrapper's own, through a staging region.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "hbf/abi.h"

namespace hbf::inject {

class Device;

class Touch {
public:
    explicit Touch(Device &device) : device_(device) {}
    ~Touch() { end(); }
    Touch(const Touch &) = delete;
    Touch &operator=(const Touch &) = delete;

    // [any-thread] False, with a line in the host's log, if the bytes cannot be reached.
    bool read(hbf_region region, uint64_t offset, std::span<std::byte> bytes);
    bool write(hbf_region region, uint64_t offset, std::span<const std::byte> bytes);
    std::optional<std::vector<std::byte>> read(hbf_region region, uint64_t offset, uint64_t size);

    void end(); // before the instance is destroyed

private:
    static constexpr uint64_t piece = 65536;

    std::byte *mapped(hbf_region region, uint64_t offset, uint64_t size);
    bool ready();
    bool run(const hbf_command *commands, uint64_t count);
    void say(const char *what);

    Device &device_;
    std::mutex mutex_; // the queue and the staging region
    hbf_queue *queue_ = nullptr;
    hbf_region_info staging_{};
    bool staging_software_ = false;
};

} // namespace hbf::inject
