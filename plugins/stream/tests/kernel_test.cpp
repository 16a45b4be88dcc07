// SPDX-License-Identifier: Apache-2.0
// Kernels by name, and the checks of a launch.
#include "core/fabric/testing/allocations.hpp"
#include "plugins/stream/tests/testing.hpp"

namespace hbf::stream {
namespace {

class StreamKernels : public OnStreams {
protected:
    hbf_kernel_info find(std::string_view name) {
        hbf_kernel_info info{};
        instance->kernels()->find(name, info);
        return info;
    }
    hbf_command launch(uint64_t kernel) {
        hbf_command command{};
        command.kind = HBF_COMMAND_LAUNCH;
        command.u.launch = {kernel, buffers, 2, &size, sizeof size, {2, 1, 1}, {8, 1, 1}};
        return command;
    }

    const uint64_t size = 64;
    const hbf_region a = allocate(128), b = allocate(128);
    hbf_kernel_buffer buffers[2] = {{a, 0, 64, HBF_KERNEL_READS, 0}, {b, 8, 64, HBF_KERNEL_WRITES, 0}};
};

TEST_F(StreamKernels, AreLoadedOnceAndRunOnTheirBuffers) {
    const hbf_kernel_info info = find("copy/1");
    EXPECT_EQ(find("copy/1").kernel, info.kernel);
    EXPECT_EQ(instance->loader->loads, 1);
    EXPECT_STREQ(info.origin, "by hand");
    EXPECT_EQ(info.concurrent_groups, 2u);
    const auto one = queue();
    submit(*one, {fill(a, 0, 128, 0x77, 1), fill(b, 0, 128, 0, 1), barrier(), launch(info.kernel)});
    std::vector<unsigned char> seen(128);
    const hbf_region out = host(seen.data(), seen.size());
    submit(*one, {copy(out, 0, b, 0, 128)});
    run_all();
    ASSERT_TRUE(one->wait(2, UINT64_MAX));
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i >= 8 && i < 72 ? 0x77 : 0) << i;
}

TEST_F(StreamKernels, WhatDoesNotFitIsRefused) {
    const uint64_t kernel = find("copy/1").kernel;
    const auto one = queue();
    std::vector<char> memory(64);
    const hbf_region registered = host(memory.data(), memory.size());
    hbf_command fits = launch(kernel);
    const auto refused = [&](const char *what, const auto &change) {
        hbf_command command = fits;
        change(command.u.launch);
        EXPECT_EQ(refusal([&] { submit(*one, {command}); }).status, HBF_INVALID) << what;
    };
    hbf_kernel_buffer bad[2] = {buffers[0], buffers[1]};
    refused("kernel", [](hbf_launch &to) { to.kernel = 0; });
    refused("another kernel", [](hbf_launch &to) { to.kernel = 10'000; });
    refused("one not found yet", [&](hbf_launch &to) { to.kernel = kernel == 1 ? 2 : 1; });
    refused("buffers", [](hbf_launch &to) { to.buffer_count = 1; });
    refused("arguments", [](hbf_launch &to) { to.arguments_size = 4; });
    refused("no groups", [](hbf_launch &to) { to.groups[1] = 0; });
    refused("too many items", [](hbf_launch &to) { to.group_size[0] = 65; });
    refused("too many items in a dimension", [](hbf_launch &to) { to.group_size[2] = 65; });
    refused("too many groups", [](hbf_launch &to) { to.groups[2] = 65536; });
    refused("null", [](hbf_launch &to) { to.buffers = nullptr; });
    bad[0].offset = 4;
    refused("offset", [&](hbf_launch &to) { to.buffers = bad; });
    bad[0] = buffers[0], bad[1].access = HBF_KERNEL_READS;
    refused("access", [&](hbf_launch &to) { to.buffers = bad; });
    bad[1] = buffers[1], bad[1].size = 121;
    refused("range", [&](hbf_launch &to) { to.buffers = bad; });
    bad[1] = {registered, 0, 64, HBF_KERNEL_WRITES, 0};
    refused("registered memory", [&](hbf_launch &to) { to.buffers = bad; });
    EXPECT_EQ(submit(*one, {fits}), 1u);
    run_all();
}

TEST_F(StreamKernels, WhatIsLackingOrDoesNotBuildIsSaid) {
    EXPECT_EQ(refusal([&] { find("copy/2"); }).status, HBF_UNSUPPORTED);
    instance->loader->lacking = "triad/1";
    const sdk::Failure lacks = refusal([&] { find("triad/1"); });
    EXPECT_EQ(lacks.status, HBF_UNSUPPORTED);
    EXPECT_NE(lacks.message.find("it needs luck"), std::string::npos) << lacks.message;
    instance->loader->lacking.clear();
    instance->loader->fail_once = true;
    EXPECT_EQ(refusal([&] { find("copy/1"); }).status, HBF_UNAVAILABLE);
    EXPECT_NE(find("copy/1").kernel, 0u) << "asked again, it is tried again";
    const uint32_t count = instance->kernels()->kernel_count();
    for (uint32_t i = 0; i < count; ++i) EXPECT_NE(find(instance->kernels()->kernel_name(i)).kernel, 0u);
}

// What the fake itself allocates is not counted: it stands aside while one is on.
class QuietStream final : public StreamApi {
public:
    Event make_event() override { return this; }
    void destroy_event(Event) noexcept override {}
    int copy(const Copy *, uint32_t) noexcept override { return 0; }
    int fill(const Fill &) noexcept override { return 0; }
    int launch(const Launch &) noexcept override { return 0; }
    int record(Event) noexcept override { return 0; }
    int wait(Event) noexcept override { return 0; }
    Answer query(Event) noexcept override { return {true, 0}; }
    Answer query_all() noexcept override { return {true, 0}; }
    void finish() noexcept override {}
    sdk::Failure explain(int, bool) const override { return {}; }
};

// A runtime need not give a stream back at once: none is asked for that a lack of memory would end on the spot.
TEST_F(StreamKernels, AStreamIsAskedForOnceTheQueueHasItsMemory) {
    Regions regions;
    uint64_t before = 0, asked = 0;
    const StreamQueue::MakeStream make = [&] {
        auto made = std::make_unique<QuietStream>();
        asked = hbf::testing::allocations();
        return made;
    };
    before = hbf::testing::allocations();
    const StreamQueue one({}, {}, make, regions, nullptr);
    EXPECT_EQ(hbf::testing::allocations(), asked);
    EXPECT_GT(asked, before + 5);
    const auto refused = refusal([&] {
        const StreamQueue two(
            {}, {}, []() -> std::unique_ptr<StreamApi> { sdk::fail(HBF_EXHAUSTED, "no streams"); }, regions, nullptr);
    });
    EXPECT_EQ(refused.status, HBF_EXHAUSTED);
}

TEST_F(StreamKernels, AWarmedSubmitPollAndWaitAllocateNothing) {
    Regions regions;
    auto made = std::make_unique<FakeRegion>(runtime, 128);
    made->for_kernels = true;
    const hbf_region region = regions.insert(std::move(made));
    KernelTable table(std::make_unique<FakeLoader>());
    hbf_kernel_info info{};
    table.find("copy/1", info);
    StreamQueue one({}, {}, [] { return std::make_unique<QuietStream>(); }, regions, &table);
    const hbf_kernel_buffer both[] = {{region, 0, 64, HBF_KERNEL_READS, 0}, {region, 64, 64, HBF_KERNEL_WRITES, 0}};
    std::vector<hbf_command> commands = {copy(region, 0, region, 64, 8), barrier(),
                                         fill(region, 3, 33, 0x0102030405060708, 8), launch(info.kernel)};
    commands[3].u.launch.buffers = both;
    const auto turn = [&] {
        const uint64_t value = submit(one, commands);
        return one.wait(value, UINT64_MAX) && one.poll().failed == 0;
    };
    ASSERT_TRUE(turn());
    const uint64_t before = hbf::testing::allocations();
    bool good = true;
    for (int i = 0; i < 200; ++i) good = good && turn();
    EXPECT_EQ(hbf::testing::allocations(), before);
    EXPECT_TRUE(good);
}

} // namespace
} // namespace hbf::stream
