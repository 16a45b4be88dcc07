// SPDX-License-Identifier: Apache-2.0
// Work that lasts: what a case of deadlines, cancelling or a full queue needs to find pending. How much of it is needed is
// measured on the spot, so that it lasts on any device and machine.
#pragma once

#include <optional>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {

class Backlog {
public:
    Backlog(const Instance &device, double seconds);

    // One more value that lasts about `seconds`, and the number it has on queue().
    uint64_t add();
    hbf_queue *queue() const { return queue_; }
    const hbf_region_info &destination() const { return dst_; }
    bool pending(uint64_t value) const { return device_->poll(queue_).completed < value; }
    double expected_s() const { return expected_s_; }

    // A value that a poll found pending after submit had returned; nothing if ten were all done by then.
    std::optional<uint64_t> add_pending();

private:
    const Instance *device_;
    Regions regions_;
    hbf_region_info src_, dst_;
    Queue queue_;
    std::vector<hbf_command> batch_;
    double expected_s_ = 0;
};

// Ends the case: the plugin does everything inside submit.
[[noreturn]] void nothing_pending(Context &context);

} // namespace hbf::conformance
