// SPDX-License-Identifier: Apache-2.0
// A Level Zero driver over the device model: what the loader's handles stand for. Types are those of api.hpp, which is
// compared with Intel's header (plugins/level_zero/tests/abi_check.cpp); what they mean is the specification's, 1.4, cited
// beside each function.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/sim/model/machine.hpp"
#include "plugins/level_zero/api.hpp"

#define HBF_ZE extern "C" __attribute__((visibility("hidden"))) ::hbf::level_zero::ze::Result

namespace hbf::level_zero::ze {

struct DriverObject {};
struct DeviceObject {
    int index = 0; // in the machine
    uint32_t number = 0;
};
struct ContextObject {
    Driver driver = nullptr;
};
struct ListObject {
    model::Stream *stream = nullptr;
    int device = 0;
    bool copies_only = false;
};
struct PoolObject {
    uint32_t count = 0;
};
struct EventObject {
    model::Event *flag = nullptr;
    int device = 0;
};
struct ModuleObject {
    int device = 0;
    std::vector<std::string> names; // of its entry points
};
struct BuildLogObject {
    std::string text;
};
struct KernelObject {
    const kernels::device::Kernel *kernel = nullptr;
    std::string name;
    int device = 0;
    uint32_t group_size[3] = {1, 1, 1};
    std::vector<uint64_t> words;      // addresses and offsets of the buffers
    std::vector<std::byte> arguments; // by value
};

} // namespace hbf::level_zero::ze

namespace hbf::emulated::l0 {

namespace ze = level_zero::ze;
using level_zero::ze::Result;

model::Machine &machine() noexcept; // after zeInit succeeded
const std::vector<ze::DeviceObject *> &devices() noexcept;
ze::DriverObject &driver() noexcept;
bool started() noexcept;

inline model::Device &device_of(int index) noexcept {
    return machine().device(index);
}
// A device that any fatal error befell is lost to its user: "Device is lost; must be reset for use" (zeDeviceGetStatus).
inline Result state_of(int index) noexcept {
    return device_of(index).status() == model::Outcome::ok ? ze::success : ze::device_lost;
}
Result result_of(model::Outcome outcome) noexcept;

template <class... Pointers>
bool any_null(const Pointers *...pointers) noexcept {
    return (... || (pointers == nullptr));
}

// What enumerations do: with *count 0 the number there is, else as many as fit. `take(i)` gives the i-th.
template <class Out, class Take>
Result enumerate(uint32_t *count, Out *out, size_t there, const Take &take) noexcept {
    if (!count) return ze::invalid_null_pointer;
    const auto all = static_cast<uint32_t>(there);
    if (*count == 0 || *count > all) *count = all;
    if (out)
        for (uint32_t i = 0; i < *count; ++i) out[i] = take(i);
    return ze::success;
}

// Text into a field of a struct.
template <size_t N>
void put(char (&field)[N], const std::string &text) noexcept {
    std::memset(field, 0, N);
    std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

} // namespace hbf::emulated::l0
