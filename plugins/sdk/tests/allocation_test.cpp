// SPDX-License-Identifier: Apache-2.0
// Memory: a warmed submit, poll and wait allocate nothing, and running out at any allocation is clean.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "counting_new.hpp"
#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

// Fails each allocation of `call` in turn, until it has none left to fail. Returns how many there were.
int fail_each_allocation(const std::function<hbf_status(hbf_error *)> &call) {
    for (int nth = 1; nth < 1000; ++nth) {
        Error error;
        fail_at = nth;
        const hbf_status status = call(error);
        const bool failed = fail_at.exchange(0) == 0;
        if (!failed) {
            EXPECT_EQ(status, HBF_OK) << error.message();
            return nth - 1;
        }
        EXPECT_EQ(status, HBF_EXHAUSTED) << "allocation " << nth;
        EXPECT_EQ(error.message(), "out of memory") << "allocation " << nth;
    }
    ADD_FAILURE() << "no end";
    return 0;
}

TEST(Memory, OutOfItAnywhereIsExhaustedAndClean) { // what leaks, the address sanitizer finds
    const std::string key = "an option longer than any small string", value = "1",
                      id = "a device id longer than any small one";
    ASSERT_NE(plugin().probe, nullptr); // opened before memory runs out
    const hbf_option option{text(key), text(value)};
    const hbf_probe_in in{sizeof in, 1, nullptr, &option, {nullptr, 0}};
    hbf_probe_out out{sizeof out, 0, nullptr, 0, 0, 0};
    EXPECT_GT(fail_each_allocation([&](hbf_error *error) { return plugin().probe(&in, &out, error); }), 2);

    const hbf_create_in create{sizeof create, 1, nullptr, &option, text(id), {nullptr, 0}};
    hbf_instance *instance = nullptr;
    EXPECT_GT(fail_each_allocation([&](hbf_error *error) { return plugin().create(&create, &instance, error); }), 3);
    ASSERT_NE(instance, nullptr);

    const auto *tier = static_cast<const hbf_tier_ext *>(plugin().get_extension(instance, text(HBF_EXT_TIER)));
    const auto *queues = static_cast<const hbf_queue_ext *>(plugin().get_extension(instance, text(HBF_EXT_QUEUE)));
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.size = 64;
    hbf_region_info region{};
    region.struct_size = sizeof region;
    EXPECT_GT(fail_each_allocation([&](hbf_error *error) { return tier->alloc(instance, &desc, &region, error); }), 0);
    EXPECT_NE(region.region, 0u);

    const hbf_queue_desc queue_desc{sizeof queue_desc, 0, 0, 0};
    hbf_queue *queue = nullptr;
    EXPECT_GT(fail_each_allocation([&](hbf_error *error) { return queues->create(instance, &queue_desc, &queue, error); }),
              1);
    EXPECT_NE(queue, nullptr);
    plugin().destroy(instance);
}

TEST(Memory, SubmitPollAndWaitAllocateNothing) {
    Device device;
    hbf_queue *queue = device.queue();
    const hbf_queue_ext &queues = device.queues();
    hbf_command commands[4] = {};
    const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, commands, 4};
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    const long before = allocations;
    for (int i = 0; i < 100; ++i) {
        uint64_t value = 0;
        ASSERT_EQ(queues.submit(queue, &batch, &value, nullptr), HBF_OK);
        ASSERT_EQ(queues.poll(queue, &progress), HBF_OK);
        ASSERT_EQ(queues.wait(queue, value, 0, nullptr), HBF_OK);
    }
    EXPECT_EQ(allocations - before, 0);
    EXPECT_EQ(progress.completed, 100u);

    const hbf_queue_desc desc{sizeof desc, 0, 0, 0};
    hbf_queue *another = nullptr;
    ASSERT_EQ(queues.create(device.instance, &desc, &another, nullptr), HBF_OK);
    EXPECT_GT(allocations - before, 0) << "this test counts the plugin's allocations";
}

} // namespace
} // namespace sdk_test
