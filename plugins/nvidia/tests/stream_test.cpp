// SPDX-License-Identifier: Apache-2.0
// What the shared queue's calls become of the driver's.
#include <cstring>
#include <numeric>

#include "kernels/device/catalogue.hpp"
#include "plugins/nvidia/queue/cuda_stream.hpp"
#include "plugins/nvidia/tests/fake.hpp"

namespace hbf::nvidia {
namespace {

class NvidiaStream : public OnFake {
protected:
    std::unique_ptr<CudaStream> make(const StreamChoices &choices = {}) {
        return std::make_unique<CudaStream>(*context, choices, 8, nullptr, log());
    }
    std::vector<stream::Copy> copies(uint32_t count) {
        std::vector<stream::Copy> out;
        for (uint64_t i = 0; i < count; ++i)
            out.push_back(
                {reinterpret_cast<uint64_t>(to) + 8 * i, reinterpret_cast<uint64_t>(from) + 8 * i, 8, nullptr, nullptr});
        return out;
    }
    NvidiaStream() { std::iota(from, from + sizeof from, 1); }

    alignas(16) unsigned char from[64], to[64] = {};
    std::unique_ptr<Context> context = open();
};

TEST_F(NvidiaStream, SeveralCopiesAreOneCallWhereTheDriverHasBatches) {
    const auto one = make();
    const stream::Entered entered(*one);
    EXPECT_EQ(one->copy(copies(8).data(), 8), 0);
    EXPECT_EQ(fake().calls["cuMemcpyBatchAsync"], 1);
    EXPECT_EQ(fake().calls["cuMemcpyAsync"], 0);
    EXPECT_EQ(std::memcmp(from, to, 64), 0);
    EXPECT_EQ(one->copy(copies(1).data(), 1), 0);
    EXPECT_EQ(fake().calls["cuMemcpyAsync"], 1) << "one alone needs no batch";
}

TEST_F(NvidiaStream, WithoutBatchesEachIsACall) {
    driver.MemcpyBatchAsync = nullptr;
    const auto one = make();
    const stream::Entered entered(*one);
    EXPECT_EQ(one->copy(copies(8).data(), 8), 0);
    EXPECT_EQ(fake().calls["cuMemcpyAsync"], 8);
    EXPECT_EQ(std::memcmp(from, to, 64), 0);
}

TEST_F(NvidiaStream, ADriverThatCannotDoThisBatchIsAskedOneByOneAndThatIsSaid) {
    fake().broken["cuMemcpyBatchAsync"] = cuda::not_supported;
    const auto one = make();
    const stream::Entered entered(*one);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(one->copy(copies(8).data(), 8), 0);
    EXPECT_EQ(fake().calls["cuMemcpyBatchAsync"], 1);
    EXPECT_EQ(fake().calls["cuMemcpyAsync"], 24);
    EXPECT_NE(logged.find("cuMemcpyBatchAsync"), std::string::npos) << logged;
    fake().broken["cuMemcpyBatchAsync"] = cuda::invalid_value;
    const auto other = make();
    EXPECT_EQ(other->copy(copies(8).data(), 8), cuda::invalid_value) << "an error is not hidden by trying otherwise";
}

TEST_F(NvidiaStream, FillsOfEveryWidth) {
    const auto one = make();
    const stream::Entered entered(*one);
    for (const uint32_t width : {1u, 2u, 4u, 8u})
        for (const uint64_t count : {1u, 2u, 3u, 5u, 7u}) {
            std::memset(to, 0, sizeof to);
            const uint64_t value = 0x8877665544332211u;
            EXPECT_EQ(one->fill({reinterpret_cast<uint64_t>(to), count, value, width, nullptr}), 0);
            for (uint64_t i = 0; i < sizeof to; ++i)
                EXPECT_EQ(to[i], i < count * width ? static_cast<unsigned char>(value >> (8 * (i % width))) : 0)
                    << width << " " << count << " " << i;
        }
}

TEST_F(NvidiaStream, QueriesTellHowItEnded) {
    const auto one = make();
    stream::Event event = nullptr;
    {
        const stream::Entered entered(*one);
        event = one->make_event();
        EXPECT_EQ(one->record(event), 0);
    }
    fake().refuse["cuEventQuery"] = cuda::not_ready;
    EXPECT_FALSE(one->query(event).over);
    EXPECT_TRUE(one->query(event).over);
    fake().refuse["cuEventQuery"] = cuda::ecc_uncorrectable;
    const stream::Answer ended = one->query(event);
    EXPECT_TRUE(ended.over);
    EXPECT_EQ(ended.code, cuda::ecc_uncorrectable);
    EXPECT_EQ(one->explain(ended.code, true).status, HBF_DEVICE_LOST);
    EXPECT_EQ(one->explain(cuda::out_of_memory, false).status, HBF_EXHAUSTED);
    EXPECT_NE(one->explain(214, true).message.find("(214)"), std::string::npos);
    fake().refuse["cuStreamQuery"] = cuda::not_ready;
    EXPECT_FALSE(one->query_all().over);
    const stream::Entered entered(*one);
    one->destroy_event(event);
}

TEST_F(NvidiaStream, HintsTheLargestBufferThatAKernelReadsToTheL2ThatIsSetAside) {
    const auto *const kernel = kernels::device::find("copy/1");
    ASSERT_NE(kernel, nullptr);
    uint64_t a = reinterpret_cast<uint64_t>(from), b = reinterpret_cast<uint64_t>(to), zero = 0, size = 32;
    void *parameters[] = {&a, &zero, &b, &zero, &size};
    const uint32_t groups[] = {1, 1, 1}, items[] = {4, 1, 1};
    const hbf_kernel_buffer buffers[] = {{1, 0, 64, HBF_KERNEL_READS, 0}, {2, 0, 64, HBF_KERNEL_WRITES, 0}};
    const stream::Launch launch{const_cast<kernels::device::Kernel *>(kernel), groups, items, parameters, 5, 8, buffers};
    {
        const auto plain = make();
        const stream::Entered entered(*plain);
        EXPECT_EQ(plain->launch(launch), 0);
        EXPECT_EQ(fake().calls["cuStreamSetAttribute"], 0);
    }
    const auto one = make({true, 32});
    const stream::Entered entered(*one);
    fake().refuse["cuStreamSetAttribute"] = cuda::invalid_value;
    EXPECT_EQ(one->launch(launch), 0) << "a hint that is not taken is no failure";
    EXPECT_EQ(one->launch(launch), 0);
    EXPECT_EQ(one->launch(launch), 0);
    EXPECT_EQ(fake().calls["cuStreamSetAttribute"], 2) << "not again for the same";
    EXPECT_EQ(fake().window.base, from);
    EXPECT_EQ(fake().window.bytes, 64u);
    EXPECT_FLOAT_EQ(fake().window.hit_ratio, 0.5f);
    EXPECT_EQ(std::memcmp(from, to, 32), 0);
}

TEST_F(NvidiaStream, WhatCannotBeMadeLeavesNothing) {
    fake().refuse["cuStreamCreate"] = cuda::out_of_memory;
    EXPECT_EQ(refusal([&] { (void)make(); }).status, HBF_EXHAUSTED);
}

} // namespace
} // namespace hbf::nvidia
