// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "copy.hpp"
#include "crc32c.hpp"
#include "variants_test.hpp"

namespace hbf::kernels {
namespace {

using testing::Guarded;
using testing::random_bytes;

constexpr uint8_t untouched = 0xA5;

class Copy : public testing::EachVariant {
protected:
    // Copies, checks the bytes, their CRCs and that nothing around them changed.
    void check(uint8_t *room, size_t room_size, size_t dst_offset, const uint8_t *src, size_t size, Stores stores,
               bool crc) {
        memset(room, untouched, room_size);
        std::vector<uint32_t> crcs((size + 65535) / 65536 + 1, 0xDEADBEEF);
        if (crc)
            copy_crc32c(room + dst_offset, src, size, stores, crcs.data());
        else
            copy(room + dst_offset, src, size, stores);
        ASSERT_EQ(memcmp(room + dst_offset, src, size), 0) << "size " << size << " to " << dst_offset;
        for (size_t i = 0; i < dst_offset; ++i)
            ASSERT_EQ(room[i], untouched) << "before, size " << size << " to " << dst_offset;
        for (size_t i = dst_offset + size; i < room_size; ++i)
            ASSERT_EQ(room[i], untouched) << "behind, size " << size << " to " << dst_offset;
        if (!crc) return;
        for (size_t piece = 0; piece * 65536 < size; ++piece)
            ASSERT_EQ(crcs[piece], crc32c(src + piece * 65536, std::min<size_t>(65536, size - piece * 65536)))
                << "piece " << piece << " of " << size;
        ASSERT_EQ(crcs.back(), 0xDEADBEEF) << "wrote a CRC too many";
    }
};
HBF_FOR_EACH_VARIANT(Copy);

constexpr Stores both[] = {Stores::regular, Stores::streaming};

TEST_P(Copy, EveryLengthFromTheEdgeOfMappedMemoryToIt) {
    const Guarded source(4608), room(4608);
    const auto data = random_bytes(source.size(), 1);
    memcpy(source.begin(), data.data(), source.size());
    for (size_t size = 0; size <= 4200; ++size)
        for (const Stores stores : both)
            for (const bool crc : {false, true}) {
                if (size > 600 && size % 7 != 0 && (crc || stores == Stores::regular)) continue;
                ASSERT_NO_FATAL_FAILURE(
                    check(room.begin(), room.size(), room.size() - size, source.end() - size, size, stores, crc));
            }
}

TEST_P(Copy, EveryPairOfAlignments) {
    const auto source = random_bytes(2048, 2);
    std::vector<uint8_t> room(2048);
    for (size_t to = 0; to < 256; ++to)
        for (size_t from = 0; from < 256; from += (to % 64 == 1 ? 1 : 37))
            for (const size_t size : {1u, 62u, 65u, 321u, 900u})
                ASSERT_NO_FATAL_FAILURE(
                    check(room.data(), 1400, to, source.data() + from, size, Stores::streaming, (to + from) % 2));
}

TEST_P(Copy, GranulesAtEveryOffset) {
    const auto source = random_bytes(65536 + 512, 3);
    std::vector<uint8_t> room(65536 + 512);
    for (size_t offset = 0; offset < 256; offset += 5)
        for (const Stores stores : both)
            ASSERT_NO_FATAL_FAILURE(
                check(room.data(), room.size(), offset, source.data() + (offset * 7) % 256, 65536, stores, true));
}

TEST_P(Copy, RandomRangesAgainstAModel) {
    const size_t size = 600000;
    const auto source = random_bytes(size, 4);
    std::vector<uint8_t> room(size, 0), model(size, 0);
    std::vector<uint32_t> crcs(16);
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
        const size_t length = random() % (1u << (random() % 19 + 1)), from = random() % (size - length),
                     to = random() % (size - length);
        const Stores stores = both[random() % 2];
        if (random() % 2)
            copy(room.data() + to, source.data() + from, length, stores);
        else
            copy_crc32c(room.data() + to, source.data() + from, length, stores, crcs.data());
        std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), length, model.begin() + static_cast<ptrdiff_t>(to));
    }
    EXPECT_TRUE(room == model);
}

// The fence at the end: what streaming stores wrote is there for whoever sees a later store. Without it this fails at once
// where both threads really run at the same time, and may pass on a machine that is too busy for that.
TEST(CopyFence, StreamingStoresAreVisibleBeforeALaterFlag) {
    constexpr size_t line = 64, lines = 64;
    alignas(4096) static uint8_t shared[line * lines];
    alignas(64) std::atomic<uint32_t> written{0};
    alignas(64) std::atomic<uint32_t> seen{0};
    uint64_t stale = 0;
    constexpr uint32_t rounds = 20000;
    const auto wait_for = [](const std::atomic<uint32_t> &flag, uint32_t round) {
        for (uint32_t spins = 0; flag.load(std::memory_order_acquire) != round; ++spins)
            if (spins > 300) std::this_thread::yield();
    };
    std::thread reader([&] {
        for (uint32_t round = 1; round <= rounds; ++round) {
            const uint8_t *const place = shared + line * (round % lines);
            wait_for(written, round);
            for (size_t i = line; i-- > 0;) stale += place[i] != static_cast<uint8_t>(round);
            seen.store(round, std::memory_order_release);
        }
    });
    uint8_t source[line];
    for (uint32_t round = 1; round <= rounds; ++round) {
        memset(source, static_cast<uint8_t>(round), line);
        copy(shared + line * (round % lines), source, line, Stores::streaming);
        written.store(round, std::memory_order_release);
        wait_for(seen, round);
    }
    reader.join();
    EXPECT_EQ(stale, 0u);
}

// More than 4 GiB in one call, over a small memory mapped again and again.
TEST(CopyFarAway, CrossesFourGiB) {
    constexpr size_t window = size_t{1} << 28, total = (size_t{1} << 32) + window;
    const int file = memfd_create("alias", 0);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, 1 << 20), 0);
    auto *const source =
        static_cast<uint8_t *>(mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (source == MAP_FAILED) GTEST_SKIP() << "no address space for an aliased mapping";
    // 1 MiB of memory under every window of the source but the last byte's own: read only, so aliasing does not show
    for (size_t at = 0; at < total; at += 1 << 20)
        ASSERT_NE(mmap(source + at, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), MAP_FAILED);
    const auto data = random_bytes(1 << 20, 6);
    memcpy(source, data.data(), data.size());
    std::vector<uint32_t> crcs(total / 65536);
    auto *const target =
        static_cast<uint8_t *>(mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (target == MAP_FAILED) GTEST_SKIP() << "no address space for an aliased mapping";
    const int sink = memfd_create("sink", 0);
    ASSERT_EQ(ftruncate(sink, 1 << 20), 0);
    for (size_t at = 0; at < total; at += 1 << 20)
        ASSERT_NE(mmap(target + at, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, sink, 0), MAP_FAILED);
    copy_crc32c(target, source, total, Stores::streaming, crcs.data());
    for (size_t piece = 0; piece < crcs.size(); ++piece)
        ASSERT_EQ(crcs[piece], crc32c(data.data() + piece % 16 * 65536, 65536)) << piece;
    EXPECT_EQ(memcmp(target, data.data(), data.size()), 0);
    munmap(source, total), munmap(target, total);
    close(file), close(sink);
}

TEST_P(Copy, ReadAllReadsEveryByte) {
    auto bytes = random_bytes(5000, 7);
    const uint64_t whole = read_all(bytes.data(), bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] ^= 0x10;
        ASSERT_NE(read_all(bytes.data(), bytes.size()), whole) << i;
        bytes[i] ^= 0x10;
    }
    EXPECT_EQ(read_all(bytes.data(), 0), 0u);
}

} // namespace
} // namespace hbf::kernels
