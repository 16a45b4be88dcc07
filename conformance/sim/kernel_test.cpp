// SPDX-License-Identifier: Apache-2.0
// Kernels of the simulated device: host twins on its own memory, when its queues come to them.
#include <functional>

#include "conformance/sim/testing.hpp"
#include "conformance/suite/launch.hpp"
#include "kernels/device/catalogue.hpp"
#include "kernels/device/copy.h"

namespace hbf::sim {
namespace {

using namespace kernels::device;

struct Scene {
    explicit Scene(OptionList options = {}) : device(std::move(options)), queue(device.instance()) {}
    hbf_kernel_info find(const char *name) {
        hbf_kernel_info out{};
        EXPECT_TRUE(find_kernel(device.instance(), name, out).ok()) << name;
        return out;
    }
    Launch copy(const hbf_region_info &to, const hbf_region_info &from, uint64_t size) {
        return Launch(find("copy/1"))
            .buffer(from.region, 0, size, HBF_KERNEL_READS)
            .buffer(to.region, 0, size, HBF_KERNEL_WRITES)
            .with(copy_arguments{size})
            .shape(3, 32);
    }
    Device device;
    Queue queue;
};

TEST(SimKernels, AreThoseOfTheProjectAndEachIsFound) {
    Scene scene;
    const auto names = kernel_names(scene.device.instance());
    ASSERT_EQ(names.size(), catalogue().size());
    for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(names[i], catalogue()[i].name);
        const hbf_kernel_info found = scene.find(names[i].c_str());
        EXPECT_EQ(found.buffer_count, catalogue()[i].buffer_count) << names[i];
        EXPECT_EQ(found.arguments_size, catalogue()[i].arguments_size) << names[i];
    }
    hbf_kernel_info none{};
    EXPECT_EQ(find_kernel(scene.device.instance(), "copy/99", none).status, HBF_UNSUPPORTED);
}

TEST(SimKernels, SeeOnlyWhatWasFlushedAndAreSeenOnlyAfterInvalidate) {
    Scene scene;
    Instance &device = scene.device.instance();
    const auto from = device.must_alloc(vram, 4096), to = device.must_alloc(vram, 4096);
    const Launch copy = scene.copy(to, from, 4096);
    put_word(from, 7);
    device.must_run(scene.queue, {copy.command()});
    device.must_run(scene.queue, {invalidate_command(to.region, 0, 4096)});
    EXPECT_EQ(word_at(to), 0u);
    device.must_run(scene.queue, {flush_command(from.region, 0, 8)});
    device.must_run(scene.queue, {copy.command()});
    EXPECT_EQ(word_at(to), 0u);
    device.must_run(scene.queue, {invalidate_command(to.region, 0, 4096)});
    EXPECT_EQ(word_at(to), 7u);
}

TEST(SimKernels, AreAsLateAsCopiesAndKeepTheirOrderWhereItMatters) {
    bool overtaken = false;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        Scene scene(OptionList{{"sim.engines", "0"}, {"sim.seed", std::to_string(seed)}});
        Instance &device = scene.device.instance();
        const auto a = device.must_alloc(coherent, 4096), b = device.must_alloc(coherent, 4096);
        const Queue other(device);
        device.must_submit(scene.queue, {fill_command(a.region, 0, 8, seed + 1, 8)});
        device.must_submit(scene.queue, {scene.copy(b, a, 8).command()});
        EXPECT_EQ(word_at(b), 0u) << seed;
        const uint64_t last = device.must_submit(other, {fill_command(b.region, 0, 8, 0, 8)});
        device.must_complete(other, last);
        device.must_complete(scene.queue, 2);
        overtaken |= word_at(b) == 0;
        EXPECT_TRUE(word_at(b) == 0 || word_at(b) == seed + 1) << seed; // never what a held before
        device.must_submit(scene.queue, {fill_command(a.region, 0, 8, 99, 8)});
        device.must_complete(scene.queue, device.must_submit(scene.queue, {scene.copy(b, a, 8).command()}));
        EXPECT_EQ(word_at(b), 99u) << seed;
    }
    EXPECT_TRUE(overtaken); // by a queue that does not wait
}

TEST(SimKernels, HoldTheirRegionsAndCopyTheirArguments) {
    Scene scene(OptionList{{"sim.engines", "0"}});
    Instance &device = scene.device.instance();
    const auto from = device.must_alloc(coherent, 4096), to = device.must_alloc(coherent, 4096);
    put_word(from, 5);
    Launch copy = scene.copy(to, from, 64);
    const uint64_t value = device.must_submit(scene.queue, {copy.command()});
    EXPECT_EQ(device.free(from.region).status, HBF_BUSY);
    EXPECT_EQ(device.free(to.region).status, HBF_BUSY);
    copy.arguments().assign(copy.arguments().size(), std::byte{0});
    copy.buffers().assign(copy.buffers().size(), {});
    device.must_complete(scene.queue, value);
    EXPECT_EQ(word_at(to), 5u);
    EXPECT_TRUE(device.free(from.region).ok());
    EXPECT_TRUE(device.free(to.region).ok());
}

TEST(SimKernels, WhatIsRefusedHoldsNothing) {
    Scene scene;
    Instance &device = scene.device.instance();
    const auto from = device.must_alloc(coherent, 4096), to = device.must_alloc(coherent, 4096),
               storage = device.must_alloc(cold, 4096);
    const auto refused = [&](const char *what, const std::function<void(Launch &, hbf_launch &)> &spoil) {
        Launch launch = scene.copy(to, from, 64);
        hbf_command command = launch.command();
        spoil(launch, command.u.launch);
        uint64_t value = 1;
        const Call call = device.submit(scene.queue, {command}, value);
        EXPECT_EQ(call.status, HBF_INVALID) << what;
        EXPECT_FALSE(call.message.empty()) << what;
        EXPECT_EQ(value, 0u) << what;
    };
    const auto second = [](Launch &launch) -> hbf_kernel_buffer & { return launch.buffers()[1]; };
    for (const uint64_t id : {uint64_t{0}, uint64_t{1}, scene.find("copy/1").kernel + 1000, UINT64_MAX})
        refused("kernel", [&](auto &, hbf_launch &raw) { raw.kernel = id; });
    refused("one buffer", [](auto &, hbf_launch &raw) { raw.buffer_count = 1; });
    refused("no buffers", [](auto &, hbf_launch &raw) { raw.buffers = nullptr; });
    refused("few arguments", [](auto &, hbf_launch &raw) { raw.arguments_size -= 1; });
    refused("no arguments", [](auto &, hbf_launch &raw) { raw.arguments = nullptr; });
    refused("no groups", [](auto &, hbf_launch &raw) { raw.groups[1] = 0; });
    refused("no items", [](auto &, hbf_launch &raw) { raw.group_size[2] = 0; });
    refused("items", [](auto &, hbf_launch &raw) { raw.group_size[1] = raw.group_size[2] = UINT32_MAX; });
    refused("stale", [&](auto &launch, hbf_launch &) { second(launch).region = 0; });
    refused("storage", [&](auto &launch, hbf_launch &) { second(launch).region = storage.region; });
    refused("offset", [&](auto &launch, hbf_launch &) { second(launch).offset = 4; });
    refused("size", [&](auto &launch, hbf_launch &) { second(launch).size = 0; });
    refused("range", [&](auto &launch, hbf_launch &) { second(launch).offset = UINT64_MAX - 7; });
    refused("access", [&](auto &launch, hbf_launch &) { second(launch).access = 0; });
    refused("access 4", [&](auto &launch, hbf_launch &) { second(launch).access = 6; });
    for (const auto &region : {from, to, storage}) EXPECT_TRUE(device.free(region.region).ok());
}

} // namespace
} // namespace hbf::sim
