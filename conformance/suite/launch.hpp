// SPDX-License-Identifier: Apache-2.0
// The kernels of the device under test, and launches together with what they point to.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {

std::vector<std::string> kernel_names(const Instance &device); // that it lists
std::vector<uint32_t> kernel_tiers(const Instance &device);    // that kernels and commands reach; fails if there is none
Call find_kernel(const Instance &device, std::string_view name, hbf_kernel_info &out);
// Found; else the case is over: not supported where the device does not list it, a failure where it does. Builds it, which
// may take seconds.
hbf_kernel_info need_kernel(Context &context, std::string_view name);

// Runs commands with a launch whose shape is new to the device: some compile once more then.
void must_run_first(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &commands);

//     const Launch launch = Launch(copy).buffer(src, 0, size, HBF_KERNEL_READS).buffer(...).with(arguments).shape(4, 64);
//     device.must_run(queue, {launch.command()});
class Launch {
public:
    explicit Launch(const hbf_kernel_info &kernel) : kernel_(kernel.kernel), most_items_(kernel.max_group_size) {}

    Launch &buffer(hbf_region region, uint64_t offset, uint64_t size, uint32_t access) {
        buffers_.push_back({region, offset, size, access, 0});
        return *this;
    }
    template <class Arguments>
    Launch &with(const Arguments &arguments) { // as the kernel takes them: kernels/device/NAME.h
        arguments_.resize(sizeof arguments);
        std::memcpy(arguments_.data(), &arguments, sizeof arguments);
        return *this;
    }
    Launch &with(const std::vector<std::byte> &arguments) {
        arguments_ = arguments;
        return *this;
    }
    Launch &shape(uint32_t groups, uint32_t items) { // no more items than the kernel takes
        return shape({groups, 1, 1}, {items < most_items_ ? items : most_items_, 1, 1});
    }
    Launch &shape(const std::array<uint32_t, 3> &groups, const std::array<uint32_t, 3> &items) {
        groups_ = groups;
        items_ = items;
        return *this;
    }

    std::vector<hbf_kernel_buffer> &buffers() { return buffers_; }
    std::vector<std::byte> &arguments() { return arguments_; }
    hbf_command command() const; // points into this launch, until submit has returned

private:
    uint64_t kernel_;
    uint32_t most_items_;
    std::array<uint32_t, 3> groups_{1, 1, 1}, items_{1, 1, 1};
    std::vector<hbf_kernel_buffer> buffers_;
    std::vector<std::byte> arguments_;
};

} // namespace hbf::conformance
