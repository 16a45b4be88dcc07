// SPDX-License-Identifier: Apache-2.0
// Launches: what they name is checked and in use, kept coherent, and what they write is no longer what was recorded.
#include <optional>

#include "core/fabric/testing/fake_kernels.hpp"
#include "core/fabric/testing/fixture.hpp"
#include "kernels/device/copy.h"

namespace hbf::testing {
namespace {

class Kernels : public FabricTest {
protected:
    Kernels() { script.max_commands = 64; }
    void start() {
        device.emplace(open());
        queue.emplace(must(device->create_queue({0, std::min(16u, script.max_commands)})));
        kernel = must(device->find_kernel("add/1")).kernel;
        a = must(device->allocate(dram, size));
        b = must(device->allocate(dram, size));
    }
    void TearDown() override { script.manual = false; }
    Batch add(const KernelBuffer &in, const KernelBuffer &out, uint64_t addend = 5) {
        const AddArguments arguments{addend};
        Batch batch;
        batch.launch(kernel, std::array{in, out}, std::as_bytes(std::span(&arguments, 1)), 2, 64);
        return batch;
    }
    Batch add(uint64_t addend = 5) {
        return add({a.region, 0, size, kernel_reads}, {b.region, 0, size, kernel_writes}, addend);
    }
    Result<Completion> run(const Batch &batch) {
        auto point = queue->submit(batch);
        if (!point) return tl::unexpected(point.error());
        return queue->wait(point->value);
    }
    static uint64_t word(const RegionInfo &region, uint64_t index) {
        uint64_t value;
        std::memcpy(&value, region.address + index * 8, 8);
        return value;
    }
    // Refused with this code and these words, and nothing is left pinned.
    void refused(const Batch &batch, Code code, const std::string &words) {
        const auto point = queue->submit(batch);
        ASSERT_EQ(code_of(point), code) << words;
        EXPECT_TRUE(contains(point.error().message, words)) << point.error().message;
        EXPECT_TRUE(contains(point.error().message, "(launch)")) << point.error().message;
    }

    static constexpr uint64_t size = 2 * granule;
    std::optional<Device> device;
    std::optional<Queue> queue;
    Kernel kernel;
    RegionInfo a, b;
};

TEST_F(Kernels, AreListedAndFound) {
    script.kernels = {"add/1", "unknown/1"};
    start();
    EXPECT_EQ(must(device->kernels()), (std::vector<std::string>{"add/1", "unknown/1"}));
    EXPECT_EQ(script.finds, 1u) << "listing builds nothing";
    const KernelInfo info = must(device->find_kernel("add/1"));
    EXPECT_EQ(info.name, "add/1");
    EXPECT_EQ(info.origin, "host twin");
    EXPECT_EQ(info.kernel.device, device->number());
    EXPECT_EQ(info.kernel.buffer_count, 2u);
    EXPECT_EQ(info.kernel.max_group_size, 256u);
    EXPECT_EQ(info.concurrent_groups, 1u) << "what a plugin does not say is one at a time";
    EXPECT_EQ(code_of(device->find_kernel("none/1")), Code::unsupported);
    script.kernel_status = HBF_UNAVAILABLE;
    const auto broken = device->find_kernel("add/1");
    ASSERT_EQ(code_of(broken), Code::unavailable);
    EXPECT_TRUE(contains(broken.error().message, "kernel add/1")) << broken.error().message;
    EXPECT_TRUE(contains(broken.error().message, "expected ';'")) << "the compiler's words";
}

TEST_F(Kernels, ADeviceWithoutAnyHasAnEmptyListAndAReason) {
    script.kernels.clear();
    Device bare = open();
    EXPECT_TRUE(must(bare.kernels()).empty());
    const auto found = bare.find_kernel("add/1");
    ASSERT_EQ(code_of(found), Code::unsupported);
    EXPECT_TRUE(contains(found.error().message, "fake:a launches no kernels")) << found.error().message;
}

TEST_F(Kernels, RunOverTheirBuffersInOrderWithCopies) {
    start();
    const RegionInfo v = must(device->allocate(vram, size)), back = must(device->allocate(dram, size));
    write(a, 0, size, 1);
    Batch batch = add({a.region, 8, 64, kernel_reads}, {v.region, granule, 64, kernel_writes}, 100);
    batch.barrier().copy(back.region, 0, v.region, granule, 64);
    must(run(batch));
    for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(word(back, i), word(a, 1 + i) + 100);
    EXPECT_EQ(script.launches, 1u);
    EXPECT_EQ(script.flushes, 0u) << "nothing in a software domain";
}

TEST_F(Kernels, TheOneThatIsNamedRuns) {
    script.kernels = {"add/1", "copy/1"};
    start();
    write(a, 0, size, 4);
    const kernels::device::copy_arguments arguments{size - 3};
    Batch batch;
    batch.launch(must(device->find_kernel("copy/1")).kernel,
                 std::array{KernelBuffer{a.region, 0, size, kernel_reads}, KernelBuffer{b.region, 0, size, kernel_writes}},
                 std::as_bytes(std::span(&arguments, 1)), 3, 32);
    must(run(batch));
    EXPECT_TRUE(same(a, b, size - 3));
    EXPECT_NE(a.address[size - 1], b.address[size - 1]) << "its arguments reach it";
}

TEST_F(Kernels, BuffersAreInUseUntilTheValueCompletes) {
    start();
    script.manual = true;
    const Point point = must(queue->submit(add()));
    for (const RegionInfo &region : {a, b}) EXPECT_EQ(code_of(device->free(region.region)), Code::busy);
    script.run();
    must(queue->wait(point.value));
    for (const RegionInfo &region : {a, b}) must(device->free(region.region));
}

TEST_F(Kernels, BadLaunchesAreRefusedWithTheirReason) {
    start();
    Device other = open("b");
    const RegionInfo far = must(other.allocate(dram, size)), nearby = must(device->allocate(cold, size));
    const KernelBuffer in{a.region, 0, size, kernel_reads}, out{b.region, 0, size, kernel_writes};
    const auto with = [&](auto change) {
        KernelBuffer buffer = out;
        change(buffer);
        return add(in, buffer);
    };
    refused(with([](auto &buffer) { buffer.offset = 8; }), Code::invalid, "buffer 1: bytes 8 to 8+131072 pass the end");
    refused(with([](auto &buffer) { buffer.offset = 4; }), Code::invalid, "no multiple of 8");
    refused(with([](auto &buffer) { buffer.offset = ~7ull; }), Code::invalid, "pass the end");
    refused(with([](auto &buffer) { buffer.size = 0; }), Code::invalid, "0 bytes");
    refused(with([](auto &buffer) { buffer.access = 0; }), Code::invalid, "access 0x0");
    refused(with([](auto &buffer) { buffer.access = 5; }), Code::invalid, "access 0x5");
    refused(with([](auto &buffer) { buffer.region = {}; }), Code::invalid, "no region");
    refused(with([](auto &buffer) { ++buffer.region.generation; }), Code::invalid, "not there");
    refused(with([&](auto &buffer) { buffer.region = far.region; }), Code::invalid, "its memory is of fake:b");
    refused(with([&](auto &buffer) { buffer.region = nearby.region; }), Code::invalid, "kernels do not reach region");
    refused(with([&](auto &buffer) { buffer.region = {99999, 0, 1}; }), Code::invalid, "closed");

    const AddArguments arguments{1};
    const auto bytes = std::as_bytes(std::span(&arguments, 1));
    const std::array both{in, out};
    Batch batch;
    refused(Batch().launch(kernel, std::span(both).first(1), bytes, 1, 1), Code::invalid, "1 buffers, the kernel takes 2");
    refused(Batch().launch(kernel, both, bytes.first(4), 1, 1), Code::invalid, "4 bytes of arguments, the kernel takes 8");
    refused(Batch().launch(kernel, both, bytes, 0, 1), Code::invalid, "no groups");
    refused(Batch().launch(kernel, both, bytes, 1, 0), Code::invalid, "no work-items");
    refused(Batch().launch(kernel, both, bytes, 1, 257), Code::invalid, "the kernel takes 256 at most");
    refused(Batch().launch(kernel, both, bytes, {1, 1, 1}, {1u << 31, 1u << 31, 4}), Code::invalid, "256 at most");
    refused(Batch().launch({}, both, bytes, 1, 1), Code::invalid, "no kernel");
    refused(Batch().launch(must(other.find_kernel("add/1")).kernel, both, bytes, 1, 1), Code::invalid,
            "a kernel of fake:b cannot run on fake:a");
    for (const RegionInfo &region : {a, b, nearby}) must(device->free(region.region)); // nothing is pinned
    EXPECT_EQ(script.launches, 0u);
}

TEST_F(Kernels, ADeviceWithoutLaunchSaysSo) {
    start();
    const Batch batch = add();
    script.capabilities = 0;
    const auto found = open().find_kernel("add/1");
    EXPECT_EQ(code_of(found), Code::unsupported);
}

TEST_F(Kernels, SoftwareDomainsAreFlushedBeforeAndInvalidatedAfter) {
    start();
    const RegionInfo in = must(device->allocate(soft, size)), out = must(device->allocate(soft, size));
    write(in, 0, size, 3);
    must(run(add({in.region, 0, size, kernel_reads}, {out.region, 0, size, kernel_writes}, 7)));
    EXPECT_EQ(word(out, 3), word(in, 3) + 7) << "the CPU stored, the kernel moved, the CPU loads";
    EXPECT_EQ(script.flushes, 2u);
    EXPECT_EQ(script.invalidates, 1u);
    must(run(add({in.region, 0, size, kernel_reads}, {b.region, 0, size, kernel_writes})));
    EXPECT_EQ(script.flushes, 3u);
    EXPECT_EQ(script.invalidates, 1u) << "only what was written";
}

TEST_F(Kernels, MoreCoherenceThanABatchHoldsIsSentInPieces) {
    script.max_commands = 16;
    start();
    const RegionInfo in = must(device->allocate(soft, size)), out = must(device->allocate(soft, size));
    write(in, 0, size, 3);
    Batch batch;
    for (uint64_t i = 0; i < 12; ++i) {
        const AddArguments arguments{i};
        batch.launch(kernel,
                     std::array{KernelBuffer{in.region, i * 64, 64, kernel_reads},
                                KernelBuffer{out.region, i * 64, 64, kernel_writes}},
                     std::as_bytes(std::span(&arguments, 1)), 1, 1);
    }
    must(run(batch));
    for (uint64_t i = 0; i < 12 * 8; ++i) EXPECT_EQ(word(out, i), word(in, i) + i / 8) << i;
}

TEST_F(Kernels, ALaunchThatNeedsMoreThanADeviceTakesIsRefused) {
    script.max_commands = 6; // two flushes, a barrier, the launch, a barrier, two invalidates
    start();
    const RegionInfo out = must(device->allocate(soft, size));
    const KernelBuffer both{out.region, 0, size, kernel_reads | kernel_writes};
    refused(add(both, both), Code::unsupported, "4 flushes and invalidates around one launch, fake:a takes 6");
    must(device->free(out.region));
}

TEST_F(Kernels, AFailureNamesItsBuffer) {
    start();
    script.fail_launch = 1;
    const auto outcome = run(add());
    ASSERT_EQ(code_of(outcome), Code::internal);
    EXPECT_TRUE(contains(outcome.error().message, "the kernel stopped")) << outcome.error().message;
    EXPECT_TRUE(contains(outcome.error().place, "region 1.1 in dram of fake:a")) << outcome.error().place;
    EXPECT_EQ(code_of(queue->poisoned()), Code::internal);
}

class KernelRecords : public Kernels {
protected:
    void SetUp() override {
        start();
        c = must(device->allocate(dram, size));
        record();
    }
    void record() { must(run(copy(b, a, size, Integrity::next_read))); }
    uint64_t checked() { return must(run(copy(c, b, size, Integrity::next_read))).checked_bytes; }
    RegionInfo c;
};

TEST_F(KernelRecords, AreDroppedForWhatAKernelWritesAndKeptElsewhere) {
    EXPECT_EQ(checked(), size);
    must(run(add({b.region, 0, size, kernel_reads}, {c.region, 0, size, kernel_writes})));
    EXPECT_EQ(checked(), size) << "reading forgets nothing, nor does writing elsewhere";
    must(run(add({a.region, 0, 8, kernel_reads}, {b.region, granule, 8, kernel_writes})));
    EXPECT_EQ(checked(), granule) << "only the granule that was written";
    record();
    must(run(add({b.region, 8, 8, kernel_reads | kernel_writes}, {b.region, 0, 8, kernel_writes})));
    EXPECT_EQ(checked(), granule);
}

TEST_F(KernelRecords, AreDroppedToo_WhenTheLaunchIsCancelledOrFails) {
    script.manual = true;
    script.cancel_works = false;
    const Point point = must(queue->submit(add()));
    must(queue->cancel(point.value));
    script.run();
    EXPECT_EQ(code_of(queue->wait(point.value)), Code::cancelled);
    script.manual = false;
    EXPECT_EQ(checked(), 0u);
    record();
    script.fail_launch = 1;
    EXPECT_EQ(code_of(run(add())), Code::internal);
    queue.emplace(must(device->create_queue()));
    EXPECT_EQ(checked(), 0u);
}

TEST_F(KernelRecords, AreDroppedInTheOrderOfTheTimeline) {
    script.manual = true;
    must(queue->submit(copy(c, b, size, Integrity::next_read)));
    must(queue->submit(add()));
    must(queue->submit(copy(c, b, size, Integrity::next_read)));
    script.run();
    EXPECT_EQ(must(queue->wait(2)).checked_bytes, size) << "before the kernel wrote";
    EXPECT_EQ(must(queue->wait(4)).checked_bytes, 0u);
}

} // namespace
} // namespace hbf::testing
