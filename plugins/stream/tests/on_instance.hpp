// SPDX-License-Identifier: Apache-2.0
// A plugin's instance in the test's own process, over an emulated runtime: what such tests ask of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/plugin.hpp"
#include "plugins/stream/tests/seen.hpp"

namespace hbf::stream {

constexpr uint64_t mebibyte = 1 << 20;

// Why it was refused; HBF_OK if it was not.
template <class Call>
sdk::Failure refusal(const Call &call) {
    try {
        call();
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "it was not refused"};
}

inline hbf_region_info alloc(sdk::Instance &instance, uint32_t tier, uint64_t size) {
    sdk::AllocRequest request;
    request.tier = tier;
    request.size = size;
    return instance.alloc(request);
}

inline hbf_command copy_of(hbf_region dst, uint64_t dst_at, hbf_region src, uint64_t src_at, uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {dst, dst_at, src, src_at, size, nullptr};
    return command;
}

inline uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
    const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
    return queue.submit(sdk::BatchView(batch));
}

// Made by whoever derives from it.
template <class Instance>
struct OnInstance {
    hbf_region_info allocate(uint32_t tier, uint64_t size) const { return alloc(*instance, tier, size); }
    hbf_tier_info tier(uint32_t index) const {
        hbf_tier_info info{};
        instance->describe_tier(index, info);
        return info;
    }
    static uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
        return stream::submit(queue, commands);
    }
    static hbf_command copy(hbf_region dst, hbf_region src, uint64_t size, uint64_t at = 0) {
        return copy_of(dst, at, src, at, size);
    }

    Logged log;
    const std::string &logged = log.text;
    std::unique_ptr<Instance> instance; // logs until it ends
};

// Copies until the device, which its fault takes away after a few calls, is lost: no copy hangs, and all later is refused.
inline void expect_lost(sdk::Instance &instance) {
    const hbf_region device = alloc(instance, 0, mebibyte).region, host = alloc(instance, 1, mebibyte).region;
    const auto queue = instance.create_queue({});
    hbf_status refused = HBF_OK;
    for (int i = 0; i < 16 && refused == HBF_OK; ++i) {
        uint64_t value = 0;
        refused = refusal([&] { value = submit(*queue, {copy_of(device, 0, host, 0, mebibyte)}); }).status;
        if (refused == HBF_OK) {
            ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        }
    }
    EXPECT_EQ(queue->poll().status, HBF_DEVICE_LOST);
    EXPECT_TRUE(refused == HBF_OK || refused == HBF_DEVICE_LOST) << refused;
    EXPECT_EQ(refusal([&] { alloc(instance, 0, mebibyte); }).status, HBF_DEVICE_LOST);
}

} // namespace hbf::stream
