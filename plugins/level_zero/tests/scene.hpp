// SPDX-License-Identifier: Apache-2.0
// The plugin's parts through the loader of this machine over the emulated driver.
#pragma once

#include <memory>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hbf/abi/queue.h"
#include "plugins/level_zero/discovery.hpp"
#include "plugins/level_zero/instance.hpp"
#include "plugins/stream/tests/on_instance.hpp"

namespace hbf::level_zero {

using stream::submit;

// Skipped where there is no loader; its driver is named by ZE_ENABLE_ALT_DRIVERS.
class UnderTheLoader : public testing::Test {
protected:
    void SetUp() override {
        if (!::dlopen(library_name, RTLD_NOW | RTLD_LOCAL)) GTEST_SKIP() << library_name << " is not installed";
    }
};

inline Opened open_first() {
    const Survey all = survey("");
    return open_device(library(), all.devices.front(), all, "");
}

struct Device {
    explicit Device(const sdk::Log &log = {})
        : opened(std::make_unique<ZeInstance>(library(), open_first(), Options{}, uint64_t{4} << 30, 0, log)) {}

    hbf_region_info alloc(uint32_t tier, uint64_t size) { return stream::alloc(*opened, tier, size); }
    std::unique_ptr<sdk::Queue> queue() { return opened->create_queue({}); }

    std::unique_ptr<ZeInstance> opened;
};

inline hbf_command copy(const hbf_region_info &to, uint64_t to_at, const hbf_region_info &from, uint64_t from_at,
                        uint64_t size) {
    return stream::copy_of(to.region, to_at, from.region, from_at, size);
}

} // namespace hbf::level_zero
