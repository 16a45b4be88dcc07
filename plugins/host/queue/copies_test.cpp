// SPDX-License-Identifier: Apache-2.0
// Copies and fills between memory: against a model, checksummed, shared between threads, past 4 GiB.
#include <sys/mman.h>
#include <unistd.h>

#include "copy_policy.hpp"
#include "hbf/sdk/shell/build_facts.hpp"
#include "kernels/host/crc32c.hpp"
#include "memory_work.hpp"
#include "queue_test.hpp"

namespace hbf::host::testing {
namespace {

using Copies = QueueTest;

uint32_t crc_of(const std::byte *bytes, uint64_t size) {
    return kernels::crc32c(bytes, size);
}

TEST_F(Copies, RandomCommandsAgainstAModel) {
    constexpr size_t size = 3 << 20;
    const hbf_region a = memory(size, 1), b = memory(size, 2);
    std::vector<std::byte> model_a(at(a), at(a, size)), model_b(at(b), at(b, size));
    TestQueue &queue = this->queue();
    std::mt19937_64 random(3);
    std::vector<uint32_t> crc(64);
    for (int round = 0; round < 300; ++round) {
        const uint64_t most = uint64_t{1} << (random() % 21 + 1), length = random() % most + 1;
        const uint64_t from = random() % (size - length), to = random() % (size - length);
        const bool back = random() % 2 == 0;
        const hbf_region dst = back ? a : b, src = back ? b : a;
        auto &model_dst = back ? model_a : model_b;
        const auto &model_src = back ? model_b : model_a;
        if (random() % 4 == 0) {
            const uint32_t width = 1u << (random() % 4);
            const uint64_t pattern = random();
            for (uint64_t i = 0; i < length; ++i) model_dst[to + i] = static_cast<std::byte>(pattern >> (8 * (i % width)));
            queue.run({fill_command(dst, to, length, pattern, width)});
        } else {
            const bool checked = random() % 2 == 0;
            std::copy_n(model_src.begin() + static_cast<ptrdiff_t>(from), length,
                        model_dst.begin() + static_cast<ptrdiff_t>(to));
            queue.run({copy_command(dst, to, src, from, length, checked ? crc.data() : nullptr)});
            for (uint64_t piece = 0; checked && piece * HBF_CRC_PIECE < length; ++piece)
                ASSERT_EQ(crc[piece], crc_of(model_src.data() + from + piece * HBF_CRC_PIECE,
                                             std::min<uint64_t>(HBF_CRC_PIECE, length - piece * HBF_CRC_PIECE)));
        }
    }
    EXPECT_EQ(memcmp(at(a), model_a.data(), size), 0);
    EXPECT_EQ(memcmp(at(b), model_b.data(), size), 0);
}

// What is above the inline size goes to a worker and is shared with the thread that waits.
TEST_F(Copies, LargeOnesArriveWholeWhoeverDoesThem) {
    constexpr size_t size = (24 << 20) + 12345;
    const hbf_region a = memory(size), b = memory(size, 4);
    TestQueue &queue = this->queue();
    std::vector<uint32_t> crc((size + HBF_CRC_PIECE - 1) / HBF_CRC_PIECE + 1);
    for (int round = 0; round < 6; ++round) {
        memset(at(a), 0xEE, size);
        std::fill(crc.begin(), crc.end(), 0xABADCAFE);
        const uint64_t value = queue.submit({copy_command(a, 0, b, 0, size, crc.data())}).value;
        if (round % 2 == 0)
            ASSERT_EQ(queue.wait(value).status, HBF_OK);
        else
            while (queue.poll().completed < value) std::this_thread::yield();
        ASSERT_EQ(memcmp(at(a), at(b), size), 0) << round;
        for (uint64_t piece = 0; piece + 1 < crc.size(); ++piece)
            ASSERT_EQ(crc[piece],
                      crc_of(at(b, piece * HBF_CRC_PIECE), std::min<uint64_t>(HBF_CRC_PIECE, size - piece * HBF_CRC_PIECE)));
        ASSERT_EQ(crc.back(), 0xABADCAFEu) << "a CRC too many";
    }
}

TEST_F(Copies, ABatchOfManyGranulesInAnyOrderOfThreads) {
    constexpr size_t granules = 600, granule = 65536;
    const hbf_region a = memory(granules * granule), b = memory(granules * granule, 5);
    TestQueue &queue = this->queue();
    std::vector<hbf_command> batch;
    std::vector<uint32_t> crc(granules);
    for (size_t i = 0; i < granules; ++i)
        batch.push_back(
            copy_command(a, ((i * 7) % granules) * granule, b, i * granule, i % 5 == 0 ? granule - 17 : granule, &crc[i]));
    queue.run(batch);
    for (size_t i = 0; i < granules; ++i) {
        const size_t length = i % 5 == 0 ? granule - 17 : granule;
        ASSERT_EQ(memcmp(at(a, ((i * 7) % granules) * granule), at(b, i * granule), length), 0) << i;
        ASSERT_EQ(crc[i], crc_of(at(b, i * granule), length)) << i;
    }
}

TEST_F(Copies, ADeadlineInTheMiddleOfALargeCopyIsMetAndTheRestGoesOn) {
    constexpr uint64_t size = 5 * turn_size + 1;
    const hbf_region a = memory(size), b = memory(size, 7);
    Command command{};
    command.kind = HBF_COMMAND_COPY, command.size = size;
    command.dst.memory = at(a), command.src.memory = at(b);
    uint64_t turns[1];
    MemoryWork work;
    work.open(&command, 1, turns);
    EXPECT_EQ(work.turns(), 6u);
    EXPECT_FALSE(work.drive(Clock::time_point::min())) << "one turn and out";
    EXPECT_TRUE(work.is_open());
    EXPECT_EQ(memcmp(at(a), at(b), turn_size), 0);
    EXPECT_NE(memcmp(at(a, turn_size), at(b, turn_size), turn_size), 0);
    EXPECT_TRUE(work.help(Clock::time_point::min())) << "another thread's one turn";
    EXPECT_EQ(memcmp(at(a), at(b), 2 * turn_size), 0);
    EXPECT_TRUE(work.drive(Clock::time_point::max()));
    EXPECT_EQ(memcmp(at(a), at(b), size), 0);
    EXPECT_FALSE(work.is_open());
    EXPECT_FALSE(work.help(Clock::time_point::max()));
}

TEST_F(Copies, AHundredMegabytesWithDeadlinesInBetween) {
    constexpr size_t size = 100 << 20;
    const hbf_region a = memory(size), b = memory(size, 8);
    TestQueue &queue = this->queue();
    const uint64_t value = queue.submit({copy_command(a, 0, b, 0, size)}).value;
    while (queue.wait(value, 100'000).status == HBF_TIMEOUT) EXPECT_FALSE(queue.idle() && queue.poll().completed < value);
    EXPECT_EQ(memcmp(at(a), at(b), size), 0);
}

TEST_F(Copies, AFillSharedBetweenThreadsKeepsItsPhase) {
    constexpr size_t size = (8 << 20) + 5;
    const hbf_region a = memory(size + 3);
    queue().run({fill_command(a, 3, size, 0x0807060504030201u, 8)});
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(static_cast<size_t>(*at(a, 3 + i)), i % 8 + 1) << i;
}

// 5 GiB, one 2 MiB file mapped over and over: the offsets are beyond 32 bits, the memory is small.
TEST_F(Copies, CrossFourGiB) {
    if (sdk::shell::sanitizer_kind == HBF_SANITIZER_THREAD)
        GTEST_SKIP() << "the thread sanitizer looks at all of the 4 GiB, for a minute, and smaller copies show it the same";
    constexpr size_t total = size_t{5} << 30, window = 2 << 20;
    const auto aliased = [&](const char *name) {
        const int fd = memfd_create(name, 0);
        EXPECT_EQ(ftruncate(fd, window), 0);
        void *const base = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) return static_cast<std::byte *>(nullptr);
        for (size_t at = 0; at < total; at += window)
            EXPECT_NE(
                mmap(static_cast<std::byte *>(base) + at, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
                MAP_FAILED);
        close(fd);
        return static_cast<std::byte *>(base);
    };
    std::byte *const to = aliased("to"), *const from = aliased("from");
    if (!to || !from) GTEST_SKIP() << "no address space for two aliased mappings of 5 GiB";
    scramble(from, window, 6);
    const hbf_region a = register_memory(to, total), b = register_memory(from, total);
    constexpr uint64_t edge = uint64_t{1} << 32, around = 300000;
    TestQueue &queue = this->queue();
    std::vector<uint32_t> crc(2 * around / HBF_CRC_PIECE + 1);
    queue.run({copy_command(a, edge - around, b, edge - around, 2 * around, crc.data())}); // across
    EXPECT_EQ(memcmp(to, from, around), 0);
    EXPECT_EQ(memcmp(to + window - around, from + window - around, around), 0);
    EXPECT_EQ(crc[0], crc_of(from + window - around, HBF_CRC_PIECE));
    memset(to, 0, window);
    queue.run({copy_command(a, 0, b, 0, edge + 7)}); // a size beyond 32 bits
    EXPECT_EQ(memcmp(to, from, window), 0);
    queue.run({fill_command(a, edge - 3, edge / 8 + 11, 0x42, 1)});
    for (size_t i = 0; i < window; ++i) ASSERT_EQ(to[i], std::byte{0x42});
    munmap(to, total), munmap(from, total);
}

} // namespace
} // namespace hbf::host::testing
