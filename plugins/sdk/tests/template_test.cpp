// SPDX-License-Identifier: Apache-2.0
// The author's template, opened by the fabric as any plugin is.
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hbf/abi/plugin.h"
#include "hbf/device.hpp"

namespace hbf {
namespace {

const hbf_plugin *load() {
    const char *path = std::getenv("HBF_SDK_TEMPLATE");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return nullptr;
    const auto query = reinterpret_cast<hbf_plugin_query_fn>(dlsym(library, HBF_PLUGIN_QUERY_SYMBOL));
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    return query ? query(HBF_ABI_VERSION, &host) : nullptr;
}

class Template : public testing::Test {
protected:
    Device open(std::vector<std::pair<std::string, std::string>> options = {}) {
        auto opened = try_open(std::move(options));
        if (!opened) throw std::runtime_error(opened.error().message);
        return std::move(*opened);
    }
    Result<Device> try_open(std::vector<std::pair<std::string, std::string>> options) {
        const hbf_plugin *plugin = load();
        if (!plugin) throw std::runtime_error("HBF_SDK_TEMPLATE names no plugin");
        DeviceOptions with;
        with.options = std::move(options);
        return Device::open(plugin, with);
    }
};

TEST_F(Template, IsOpenedByTheFabricAndSaysWhatItHas) {
    Device device = open({{"mebibytes", "8"}});
    EXPECT_EQ(device.plugin_name(), "template");
    EXPECT_EQ(device.id(), "template0");
    EXPECT_FALSE(device.emulated());
    ASSERT_EQ(device.tiers().size(), 1u);
    EXPECT_EQ(device.tiers()[0].name, "template0");
    EXPECT_EQ(device.tiers()[0].capacity, 8u << 20);
}

TEST_F(Template, CopiesAndFillsExactlyTheirRange) {
    Device device = open();
    auto a = device.allocate(0, 300000), b = device.allocate(0, 300000);
    ASSERT_TRUE(a && b);
    for (uint64_t i = 0; i < a->size; ++i) a->address[i] = static_cast<std::byte>(i * 7 + i / 251);
    std::memset(b->address, 0x5a, b->size);
    auto queue = device.create_queue();
    ASSERT_TRUE(queue);
    Batch batch;
    batch.copy(b->region, 1001, a->region, 77, 200001).barrier().fill(b->region, 5, 11, 0x0102030405060708, 8);
    auto point = queue->submit(batch);
    ASSERT_TRUE(point) << point.error().message;
    ASSERT_TRUE(queue->wait(point->value));
    EXPECT_EQ(std::memcmp(b->address + 1001, a->address + 77, 200001), 0);
    for (const uint64_t outside : {uint64_t{0}, uint64_t{4}, uint64_t{16}, uint64_t{1000}, uint64_t{201002}, b->size - 1})
        EXPECT_EQ(b->address[outside], std::byte{0x5a}) << outside;
    const unsigned char pattern[] = {8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6};
    EXPECT_EQ(std::memcmp(b->address + 5, pattern, sizeof pattern), 0);
}

TEST_F(Template, RefusesWhatIsWrongAndKeepsGoing) {
    Device device = open({{"mebibytes", "1"}});
    auto region = device.allocate(0, 65536);
    ASSERT_TRUE(region);
    EXPECT_EQ(device.allocate(0, 2 << 20).error().code, Code::exhausted);
    EXPECT_EQ(device.allocate(0, 1 << 20).error().code, Code::exhausted) << "not that much is left";
    EXPECT_TRUE(device.allocate(0, (1 << 20) - 65536)) << "but this is";
    auto queue = device.create_queue();
    ASSERT_TRUE(queue);
    Batch batch;
    batch.copy(region->region, 0, region->region, 100, 200);
    EXPECT_EQ(queue->submit(batch).error().code, Code::invalid) << "overlap";
    batch.clear();
    batch.fill(region->region, 65536, 1, 0);
    EXPECT_EQ(queue->submit(batch).error().code, Code::invalid) << "out of range";
    batch.clear();
    batch.fill(region->region, 0, 65536, 0);
    auto point = queue->submit(batch);
    ASSERT_TRUE(point);
    EXPECT_TRUE(queue->wait(point->value)) << "the queue goes on after refusals";
    EXPECT_TRUE(device.free(region->region));
    EXPECT_EQ(device.free(region->region).error().code, Code::invalid) << "twice";
    EXPECT_TRUE(device.allocate(0, 65536)) << "the room is back";
}

TEST_F(Template, RefusesOptionsItDoesNotKnow) {
    for (const auto &[key, value] :
         {std::pair("megabytes", "8"), std::pair("mebibytes", "lots"), std::pair("mebibytes", "")}) {
        auto opened = try_open({{key, value}});
        ASSERT_FALSE(opened) << key << "=" << value;
        EXPECT_EQ(opened.error().code, Code::invalid) << opened.error().message;
    }
}

TEST_F(Template, QueuesRunSideBySide) {
    Device device = open();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&device, t] {
            auto queue = device.create_queue();
            auto region = device.allocate(0, 65536);
            ASSERT_TRUE(queue && region);
            Batch batch;
            for (int i = 0; i < 200; ++i) {
                batch.clear();
                batch.fill(region->region, 0, 4096, static_cast<uint64_t>(t * 1000 + i));
                auto point = queue->submit(batch);
                ASSERT_TRUE(point);
                ASSERT_TRUE(queue->wait(point->value));
                uint64_t seen = 0;
                std::memcpy(&seen, region->address + 4088, 8);
                ASSERT_EQ(seen, static_cast<uint64_t>(t * 1000 + i));
            }
            EXPECT_TRUE(device.free(region->region));
        });
    for (std::thread &thread : threads) thread.join();
}

} // namespace
} // namespace hbf
