// SPDX-License-Identifier: Apache-2.0
// Launches with what they point to: buffers and arguments are the host's, and may change once submit has returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "conformance/inject/device.hpp"
#include "hbf/abi/command.h"

namespace hbf::inject {

// Whether buffers and arguments may be looked at. If not, the plugin will refuse the launch: pass it on.
inline bool readable(const hbf_launch &launch) {
    constexpr uint64_t most_buffers = 64, most_bytes = 65536;
    return (launch.buffers || launch.buffer_count == 0) && launch.buffer_count <= most_buffers &&
           (launch.arguments || launch.arguments_size == 0) && launch.arguments_size <= most_bytes;
}

// What no plugin can refuse: a kernel that the host found, all as it takes it, in regions that there are.
bool harmless(const Device &device, const hbf_launch &launch);

// Copies of what launches point to, to be changed, or to outlive the host's.
class OwnedLaunches {
public:
    // Every readable launch points to a copy.
    void own_all(std::vector<hbf_command> &commands) {
        for (hbf_command &command : commands)
            if (command.kind == HBF_COMMAND_LAUNCH && readable(command.u.launch)) own(command.u.launch);
    }
    void clear() { copies_.clear(); }

private:
    struct Copy {
        std::vector<hbf_kernel_buffer> buffers;
        std::vector<std::byte> arguments;
    };
    void own(hbf_launch &launch) {
        Copy &copy = copies_.emplace_back();
        copy.buffers.assign(launch.buffers, launch.buffers + launch.buffer_count);
        const auto *const bytes = static_cast<const std::byte *>(launch.arguments);
        copy.arguments.assign(bytes, bytes + launch.arguments_size);
        launch.buffers = copy.buffers.data();
        launch.arguments = copy.arguments.data();
    }
    std::deque<Copy> copies_; // none moves when another comes
};

// Of a launch that is owned: where its copies may be changed.
inline std::span<hbf_kernel_buffer> buffers_of(const hbf_launch &launch) {
    return {const_cast<hbf_kernel_buffer *>(launch.buffers), launch.buffer_count};
}
inline std::span<std::byte> arguments_of(const hbf_launch &launch) {
    return {const_cast<std::byte *>(static_cast<const std::byte *>(launch.arguments)), launch.arguments_size};
}

} // namespace hbf::inject
