// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/current_device.hpp"

#include <array>
#include <cstddef>

namespace hbf::cambricon {
namespace {

constexpr size_t most_nested = 16;
struct Nest {
    std::array<int, most_nested> before{}; // the device to set again at each level; -1: it was not changed
    size_t depth = 0;
};
thread_local Nest nest;

} // namespace

void enter_device(const Cnrt &cnrt, int ordinal) noexcept {
    int before = -1;
    if (cnrt.GetDevice(&before) != code::success) before = -1;
    if (before == ordinal)
        before = -1;
    else if (cnrt.SetDevice(ordinal) != code::success)
        before = -1;
    if (nest.depth < most_nested) nest.before[nest.depth] = before;
    ++nest.depth;
}

void leave_device(const Cnrt &cnrt) noexcept {
    --nest.depth;
    if (nest.depth < most_nested && nest.before[nest.depth] >= 0) (void)cnrt.SetDevice(nest.before[nest.depth]);
}

} // namespace hbf::cambricon
