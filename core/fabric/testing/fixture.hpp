// SPDX-License-Identifier: Apache-2.0
// What every fabric test starts from: fresh scripts, two devices, and short ways to say the usual things.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/fabric/testing/fake_device.hpp"
#include "hbf/device.hpp"
#include "hbf/queue.hpp"

namespace hbf::testing {

using namespace std::chrono_literals;

// The value of a Result, or a failed test with its message.
template <class T>
T must(Result<T> result) {
    if (!result) {
        ADD_FAILURE() << to_string(result.error().code) << ": " << result.error().message;
        throw std::runtime_error(result.error().message);
    }
    return std::move(*result);
}
inline void must(const Result<> &result) {
    if (!result) ADD_FAILURE() << to_string(result.error().code) << ": " << result.error().message;
}

template <class T>
Code code_of(const Result<T> &result) {
    return result ? Code::ok : result.error().code;
}

inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

constexpr uint64_t granule = 64 * 1024;

class FabricTest : public ::testing::Test {
protected:
    FabricTest() : script(fresh()), other_script(add_device("b")) {}

    Device open(const std::string &id = "a", bool litmus = false) {
        return must(Device::open(fake_plugin(), fake_options(id, litmus)));
    }

    static void write(const RegionInfo &region, uint64_t offset, uint64_t size, uint8_t seed) {
        for (uint64_t i = 0; i < size; ++i) region.address[offset + i] = static_cast<std::byte>(seed + i * 7 + i / 251);
    }
    static bool same(const RegionInfo &a, const RegionInfo &b, uint64_t size) {
        return std::memcmp(a.address, b.address, size) == 0;
    }

    Script &script;
    Script &other_script;

private:
    static Script &fresh() {
        reset_devices();
        return add_device("a");
    }
};

inline Batch copy(const RegionInfo &dst, const RegionInfo &src, uint64_t size, Integrity integrity = Integrity::none) {
    Batch batch;
    batch.copy(dst.region, 0, src.region, 0, size, integrity);
    return batch;
}

} // namespace hbf::testing
