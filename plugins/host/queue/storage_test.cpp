// SPDX-License-Identifier: Apache-2.0
// Commands to and from storage: data, checksums, what runs beside what, and errors with their place.
#include "copy_policy.hpp"
#include "kernels/host/crc32c.hpp"
#include "queue_test.hpp"

namespace hbf::host::testing {
namespace {

constexpr uint64_t ms = 1'000'000;

class Storage : public QueueTest {
protected:
    static constexpr size_t size = (5 << 20) + 4321; // several turns and a rest
    void expect_crcs(const std::vector<uint32_t> &crc, const std::byte *bytes, uint64_t length) {
        for (uint64_t piece = 0; piece * HBF_CRC_PIECE < length; ++piece)
            ASSERT_EQ(crc[piece], kernels::crc32c(bytes + piece * HBF_CRC_PIECE,
                                                  std::min<uint64_t>(HBF_CRC_PIECE, length - piece * HBF_CRC_PIECE)))
                << piece;
    }
    hbf_region m_ = memory(size, 1), f_ = file(size, 2), g_ = file(size, 3);
    std::vector<uint32_t> crc_ = std::vector<uint32_t>(size / HBF_CRC_PIECE + 1);
};

TEST_F(Storage, EachDirectionWithChecksums) {
    for (const bool newest_first : {false, true})
        for (const size_t room : {1u, 2u, 64u}) {
            storage_.control.newest_first = newest_first;
            storage_.control.room = room;
            TestQueue &queue = this->queue();
            queue.run({copy_command(f_, 0, m_, 0, size, crc_.data())});
            ASSERT_EQ(memcmp(stored(f_).data(), at(m_), size), 0);
            expect_crcs(crc_, at(m_), size);
            queue.run({copy_command(g_, 100, f_, 37, size - 200, crc_.data())});
            ASSERT_EQ(memcmp(stored(g_).data() + 100, stored(f_).data() + 37, size - 200), 0);
            expect_crcs(crc_, stored(f_).data() + 37, size - 200);
            memset(at(m_), 0, size);
            queue.run({copy_command(m_, 3, g_, 5, size - 9, crc_.data())});
            ASSERT_EQ(memcmp(at(m_, 3), stored(g_).data() + 5, size - 9), 0);
            expect_crcs(crc_, at(m_, 3), size - 9);
            queue.run({fill_command(f_, 11, size - 30, 0x0807060504030201u, 8)});
            size_t wrong = 0;
            for (size_t i = 0; i < size - 30; ++i) wrong += static_cast<size_t>(stored(f_)[11 + i]) != i % 8 + 1;
            ASSERT_EQ(wrong, 0u);
        }
}

TEST_F(Storage, ValuesThatTouchDifferentBytesAreInFlightTogether) {
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    for (uint64_t i = 0; i < 16; ++i)
        ASSERT_EQ(queue.submit({copy_command(m_, i * 65536, f_, i * 65536, 65536)}).value, i + 1);
    EXPECT_EQ(storage_.control.begun_so_far(), 16u) << "submit begins them; nobody has polled";
    open();
    while (queue.poll().completed < 16) std::this_thread::yield();
    EXPECT_EQ(memcmp(at(m_), stored(f_).data(), 16 * 65536), 0);
}

TEST_F(Storage, AValueThatTouchesTheSameBytesComesAfter) {
    storage_.control.newest_first = true; // wrong order, if they were in flight together
    TestQueue &queue = this->queue();
    const hbf_region other = memory(size, 9);
    for (int round = 0; round < 20; ++round) {
        storage_.control.hold(storage_.control.begun_so_far());
        (void)queue.submit({copy_command(f_, 0, m_, 0, 65536)});        // f = m
        (void)queue.submit({copy_command(f_, 65535, other, 0, 65536)}); // f again, one byte shared
        (void)queue.submit({copy_command(g_, 0, f_, 0, 131071)});       // reads both
        (void)queue.submit({fill_command(m_, 0, 65536, 0x11, 1)});      // m, which the first still reads
        const uint64_t last = queue.submit({copy_command(m_, 0, g_, 0, 64)}).value;
        const std::byte first = *at(m_, 64), boundary = *at(other);
        open();
        ASSERT_EQ(queue.wait(last).status, HBF_OK);
        ASSERT_EQ(stored(g_)[64], first);
        ASSERT_EQ(stored(g_)[65535], boundary);
        ASSERT_EQ(memcmp(at(m_), stored(g_).data(), 64), 0);
        ASSERT_EQ(*at(m_, 64), std::byte{0x11});
        std::mt19937 random(static_cast<uint32_t>(round));
        for (size_t i = 0; i < 65536; ++i) *at(m_, i) = static_cast<std::byte>(random());
    }
}

TEST_F(Storage, MemoryCommandsOfLaterValuesDoNotWaitForStorageTheyDoNotTouch) {
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    const hbf_region a = memory(4096), b = memory(4096, 4);
    (void)queue.submit({copy_command(m_, 0, f_, 0, 65536)});
    const uint64_t second = queue.submit({copy_command(a, 0, b, 0, 4096)}).value;
    EXPECT_EQ(memcmp(at(a), at(b), 4096), 0) << "done already";
    EXPECT_EQ(queue.poll().completed, 0u) << "but values complete in order";
    open();
    EXPECT_EQ(queue.wait(second).status, HBF_OK);
}

TEST_F(Storage, ErrorsKeepTheirStatusRegionAndOffset) {
    for (const hbf_status status : {HBF_DATA_LOSS, HBF_EXHAUSTED, HBF_DEVICE_LOST, HBF_PERMISSION})
        for (const bool place_known : {false, true}) {
            storage_.control.fault = [&](const FakeIo &io) {
                IoResult result;
                if (io.offset < (2 << 20)) return result;
                result.status = status, result.message = "short read";
                if (place_known) result.offset = io.offset + 7;
                return result;
            };
            TestQueue &queue = this->queue();
            const uint64_t value = queue.submit({copy_command(m_, 0, f_, 1 << 20, 2 << 20)}).value;
            ASSERT_EQ(queue.wait(value).status, HBF_OK);
            EXPECT_EQ(queue.poll().status, status);
            EXPECT_EQ(queue.poll().failed, value);
            EXPECT_EQ(queue.failure().message, "short read");
            EXPECT_EQ(queue.failure().region, f_);
            EXPECT_EQ(queue.failure().offset, (2u << 20) + (place_known ? 7 : 0));
            EXPECT_TRUE(queue.idle());
        }
}

TEST_F(Storage, AWriteThatFailsBehindABounceNamesTheDestination) {
    storage_.control.fault = [&](const FakeIo &io) {
        IoResult result;
        if (io.write && io.offset >= (3 << 20)) result.status = HBF_EXHAUSTED, result.message = "disk full";
        return result;
    };
    TestQueue &queue = this->queue();
    const uint64_t value = queue.submit({copy_command(g_, 0, f_, 0, size)}).value;
    ASSERT_EQ(queue.wait(value).status, HBF_OK);
    EXPECT_EQ(queue.poll().status, HBF_EXHAUSTED);
    EXPECT_EQ(queue.failure().region, g_);
    EXPECT_EQ(queue.failure().offset, 3u << 20);
    EXPECT_EQ(memcmp(stored(g_).data(), stored(f_).data(), 2 << 20), 0) << "what was written before stays";
}

TEST_F(Storage, AFailedReadIsNeverWrittenOn) {
    const std::vector<std::byte> before = stored(g_);
    storage_.control.fault = [&](const FakeIo &io) {
        IoResult result;
        if (!io.write) result.status = HBF_DATA_LOSS, result.message = "unreadable";
        return result;
    };
    TestQueue &queue = this->queue();
    ASSERT_EQ(queue.wait(queue.submit({copy_command(g_, 0, f_, 0, size)}).value).status, HBF_OK);
    EXPECT_EQ(queue.poll().status, HBF_DATA_LOSS);
    EXPECT_TRUE(stored(g_) == before);
}

TEST_F(Storage, WaitWithADeadlineReturnsWhileStorageHangs) {
    storage_.control.hold(0);
    TestQueue &queue = this->queue();
    const uint64_t value = queue.submit({copy_command(m_, 0, f_, 0, 65536)}).value;
    EXPECT_EQ(queue.wait(value, 3 * ms).status, HBF_TIMEOUT);
    EXPECT_FALSE(queue.idle());
    open();
    EXPECT_EQ(queue.wait(value).status, HBF_OK);
}

TEST_F(Storage, DestroyWaitsForWhatIsInFlight) {
    {
        TestQueue queue(regions_, &storage_, workers_);
        (void)queue.submit({copy_command(m_, 0, f_, 0, size), copy_command(g_, 0, f_, 0, size)});
    }
    EXPECT_EQ(storage_.control.begun, storage_.control.finished);
    EXPECT_TRUE(stored(g_) == stored(f_));
    EXPECT_NO_THROW((void)regions_.take(m_));
}

TEST_F(Storage, AQueueWithoutStorageHasNone) {
    TestQueue queue(regions_, nullptr, workers_);
    const Outcome outcome = queue.submit({copy_command(m_, 0, f_, 0, 64)});
    EXPECT_EQ(outcome.status, HBF_UNSUPPORTED) << outcome.message;
}

} // namespace
} // namespace hbf::host::testing
