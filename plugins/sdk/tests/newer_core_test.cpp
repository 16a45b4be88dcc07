// SPDX-License-Identifier: Apache-2.0
// A plugin of today's headers in a core two minor versions newer. The parts of the core that meet a plugin, and this test,
// are compiled with headers made by later_headers.py: every struct that knows its size is longer than the plugin knows.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "core/loader/bind.hpp"
#include "core/loader/trial.hpp"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"
#include "hbf/device.hpp"

namespace hbf {
namespace {

constexpr uint64_t sentinel = 0xa5a5a5a5a5a5a5a5;

static_assert(HBF_ABI_VERSION == HBF_ABI_MAKE(0, 3) && sizeof(hbf_command) > HBF_COMMAND_SIZE &&
              sizeof(hbf_tier_info) > HBF_TIER_INFO_MIN_SIZE);

// Both fields that today's plugin does not know.
template <class T>
T sized() {
    T out{};
    out.struct_size = sizeof out;
    out.later_a = out.later_b = sentinel;
    return out;
}
template <class T>
bool tail_is_untouched(const T &out) {
    return out.struct_size == sizeof out && out.later_a == sentinel && out.later_b == sentinel;
}

class NewerCore : public testing::Test {
protected:
    void SetUp() override {
        const char *path = std::getenv("HBF_SDK_TEMPLATE");
        void *const library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
        ASSERT_TRUE(library) << "HBF_SDK_TEMPLATE names no plugin";
        const auto entry = loader::entry_of(library);
        ASSERT_TRUE(entry) << entry.error().detail;
        auto host = sized<hbf_host_info>();
        const hbf_plugin *any = (*entry)(UINT32_MAX, &host);
        ASSERT_TRUE(any);
        name = any->name;
        const auto table = loader::query_table(*entry, name);
        ASSERT_TRUE(table) << table.error().detail;
        plugin = *table;
    }

    std::string name;
    const hbf_plugin *plugin = nullptr;
};

TEST_F(NewerCore, TakesThePluginAtItsOwnVersion) {
    EXPECT_EQ(loader::host_abi_max, HBF_ABI_MAKE(0, 3));
    EXPECT_EQ(loader::host_abi_min, HBF_ABI_MAKE(0, 1));
    EXPECT_EQ(plugin->abi_version, HBF_ABI_MAKE(0, 1));
    EXPECT_LT(plugin->struct_size, sizeof(hbf_plugin)) << "it is not the older one";
    loader::ProbeRequest request;
    loader::ProbeRecord record;
    const auto refusal = loader::probe_and_try(*plugin, request, [](loader::ProbeStep) {}, record);
    EXPECT_FALSE(refusal) << refusal->detail;
    ASSERT_EQ(record.devices.size(), 1u);
    EXPECT_EQ(record.devices[0].id, name + "0");
}

TEST_F(NewerCore, MovesDataThroughItsFabric) {
    auto opened = Device::open(plugin, {});
    ASSERT_TRUE(opened) << opened.error().message;
    auto a = opened->allocate(0, 300000), b = opened->allocate(0, 300000);
    ASSERT_TRUE(a && b);
    for (uint64_t i = 0; i < a->size; ++i) a->address[i] = static_cast<std::byte>(i * 7 + i / 251);
    auto queue = opened->create_queue();
    ASSERT_TRUE(queue) << queue.error().message;
    Batch batch; // several commands: the plugin has to walk them by their stride
    batch.copy(b->region, 1001, a->region, 77, 100000).copy(b->region, 200000, a->region, 150000, 100000).barrier();
    batch.fill(b->region, 5, 11, 0x0102030405060708, 8);
    const auto point = queue->submit(batch);
    ASSERT_TRUE(point) << point.error().message;
    ASSERT_TRUE(queue->wait(point->value));
    EXPECT_EQ(std::memcmp(b->address + 1001, a->address + 77, 100000), 0);
    EXPECT_EQ(std::memcmp(b->address + 200000, a->address + 150000, 100000), 0);
    EXPECT_EQ(b->address[5], std::byte{8});
    EXPECT_EQ(b->address[16], std::byte{0});
    batch.clear();
    batch.copy(b->region, 0, b->region, 10, 100);
    EXPECT_EQ(queue->submit(batch).error().code, Code::invalid) << "overlap";
    EXPECT_TRUE(opened->free(a->region));
    EXPECT_EQ(opened->free(a->region).error().code, Code::invalid) << "twice";
}

TEST_F(NewerCore, WhatThePluginDoesNotKnowIsIgnoredAndLeftAlone) {
    auto in = sized<hbf_create_in>();
    auto services = sized<hbf_host_services>();
    services.log = [](void *, hbf_log_level, hbf_string) noexcept {};
    services.log_level = [](void *) noexcept { return HBF_LOG_ERROR; };
    in.services = &services;
    char text[256] = "";
    auto error = sized<hbf_error>();
    error.message = text;
    error.capacity = sizeof text;
    hbf_instance *instance = nullptr;
    ASSERT_EQ(plugin->create(&in, &instance, &error), HBF_OK) << text;

    const auto extension = [&](std::string_view id) { return plugin->get_extension(instance, {id.data(), id.size()}); };
    EXPECT_EQ(extension(HBF_EXT_LATER), nullptr);
    const auto *tiers = static_cast<const hbf_tier_ext *>(extension(HBF_EXT_TIER));
    const auto *queues = static_cast<const hbf_queue_ext *>(extension(HBF_EXT_QUEUE));
    ASSERT_TRUE(tiers && queues);

    auto tier = sized<hbf_tier_info>();
    EXPECT_EQ(tiers->describe(instance, 0, &tier, &error), HBF_OK);
    EXPECT_TRUE(tail_is_untouched(tier));
    EXPECT_GT(tier.capacity, 0u);
    EXPECT_EQ(tiers->describe(instance, 99, &tier, &error), HBF_INVALID);
    EXPECT_TRUE(tail_is_untouched(error));
    EXPECT_GT(error.length, 0u);

    auto desc = sized<hbf_alloc_desc>();
    desc.size = 4096;
    auto region = sized<hbf_region_info>();
    ASSERT_EQ(tiers->alloc(instance, &desc, &region, &error), HBF_OK) << text;
    EXPECT_TRUE(tail_is_untouched(region));

    auto facts = sized<hbf_queue_info>();
    EXPECT_EQ(queues->info(instance, &facts, &error), HBF_OK);
    EXPECT_TRUE(tail_is_untouched(facts));
    auto wanted = sized<hbf_queue_desc>();
    wanted.depth = wanted.commands = wanted.flags = 0;
    hbf_queue *queue = nullptr;
    ASSERT_EQ(queues->create(instance, &wanted, &queue, &error), HBF_OK) << text;

    std::vector<hbf_command> commands(3);
    for (uint64_t i = 0; i < commands.size(); ++i) {
        commands[i].kind = HBF_COMMAND_FILL;
        commands[i].u.fill = {region.region, i * 100, 10, i + 1, 1, 0};
        commands[i].later_a = commands[i].later_b = sentinel;
    }
    auto batch = sized<hbf_batch>();
    batch.command_stride = sizeof(hbf_command);
    batch.commands = commands.data();
    batch.command_count = commands.size();
    uint64_t value = 0;
    ASSERT_EQ(queues->submit(queue, &batch, &value, &error), HBF_OK) << text;
    EXPECT_EQ(queues->wait(queue, value, UINT64_MAX, &error), HBF_OK);
    auto progress = sized<hbf_progress>();
    EXPECT_EQ(queues->poll(queue, &progress), HBF_OK);
    EXPECT_TRUE(tail_is_untouched(progress));
    EXPECT_EQ(progress.completed, value);
    const auto *bytes = static_cast<const unsigned char *>(region.address);
    for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(bytes[i * 100 + 9], i + 1);
    EXPECT_EQ(queues->destroy(queue, &error), HBF_OK);
    plugin->destroy(instance);
}

} // namespace
} // namespace hbf
