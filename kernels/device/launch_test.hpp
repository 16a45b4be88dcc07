// SPDX-License-Identifier: Apache-2.0
// Launches twins in tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/catalogue.hpp"

namespace hbf::kernels::device::testing {

struct Shape {
    uint32_t groups, size;
};
inline constexpr Shape shapes[] = {{1, 1}, {1, 64}, {3, 7}, {16, 32}, {5, 300}};

inline void launch(std::string_view name, std::initializer_list<TwinBuffer> buffers, const void *arguments, Shape shape) {
    const Kernel *kernel = find(name);
    ASSERT_NE(kernel, nullptr) << name;
    ASSERT_EQ(buffers.size(), kernel->buffer_count);
    const uint32_t groups[3] = {shape.groups, 1, 1}, size[3] = {shape.size, 1, 1};
    run(*kernel, buffers.begin(), arguments, groups, size);
}

template <class T>
TwinBuffer of(std::vector<T> &items) {
    return {items.data(), sizeof(T) * items.size()};
}

inline std::vector<uint64_t> numbers(size_t count) { // no two alike
    std::vector<uint64_t> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = (i + 1) * 0x9E3779B97F4A7C15u;
    return out;
}

} // namespace hbf::kernels::device::testing
