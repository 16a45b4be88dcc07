// SPDX-License-Identifier: Apache-2.0
// What a plugin's queue implements. Contracts of abi/queue.h hold; throw Failure to refuse.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "hbf/abi/queue.h"
#include "hbf/sdk/failure.hpp"

namespace hbf::sdk {

// The host's commands, walked by its stride.
class BatchView {
public:
    // A reference. Once commands have grown past their first size, a copy, zero where an older host's command ends.
    using Command = std::conditional_t<sizeof(hbf_command) == HBF_COMMAND_SIZE, const hbf_command &, hbf_command>;

    explicit BatchView(const hbf_batch &batch) : batch_(&batch) {}
    uint64_t size() const { return batch_->command_count; }
    Command operator[](uint64_t index) const {
        return read<Command>(reinterpret_cast<const char *>(batch_->commands) + index * batch_->command_stride);
    }

private:
    template <class As>
    As read(const char *at) const {
        if constexpr (std::is_reference_v<As>) {
            return *reinterpret_cast<const hbf_command *>(at);
        } else {
            hbf_command command{};
            std::memcpy(&command, at, std::min<size_t>(batch_->command_stride, sizeof command));
            return command;
        }
    }

    const hbf_batch *batch_;
};

struct Progress {
    uint64_t completed = 0;     // failed ones counted
    uint64_t failed = 0;        // lowest failed value, 0 none
    hbf_status status = HBF_OK; // why it failed
};

// The shell has checked pointers, sizes and strides, the number of commands, and that `value` was returned by submit.
// Regions, ranges, command kinds and flags are the author's to check.
class Queue {
public:
    virtual ~Queue() = default; // idle, or the device is lost
    // Takes the whole batch or throws with nothing begun. Returns 1, 2, 3, ...
    virtual uint64_t submit(const BatchView &batch) = 0;
    virtual Progress poll() noexcept = 0;                       // any thread
    virtual bool wait(uint64_t value, uint64_t timeout_ns) = 0; // any thread; false: timed out
    virtual bool cancel(uint64_t value) = 0;                    // any thread; false: it runs or ran
    virtual std::optional<Failure> failure() const = 0;         // any thread; of the lowest failed value
    virtual bool idle() noexcept = 0;                           // any thread; nothing in flight, no region in use
};

} // namespace hbf::sdk
