// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "pieces.hpp"

namespace hbf::host {
namespace {

// Whatever the transfer: pieces follow each other, cover all of it once, and each is one that O_DIRECT takes.
void check(const Transfer &transfer, Alignment alignment, const PieceLimits &limits) {
    uint64_t done = 0;
    while (done < transfer.size) {
        const Piece piece = next_piece(transfer, done, alignment, limits);
        ASSERT_GT(piece.size, 0u);
        ASSERT_EQ(piece.offset, transfer.offset + done);
        ASSERT_EQ(piece.memory, transfer.memory + done);
        ASSERT_EQ(piece.io_offset % alignment.offset, 0u);
        ASSERT_EQ(piece.io_size % alignment.offset, 0u);
        ASSERT_LE(piece.io_offset, piece.offset);
        ASSERT_GE(piece.io_offset + piece.io_size, piece.offset + piece.size);
        ASSERT_LT(piece.offset - piece.io_offset, alignment.offset);
        ASSERT_LT(piece.io_offset + piece.io_size - piece.offset - piece.size, alignment.offset);
        switch (piece.path) {
        case Path::direct:
            ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.memory) % alignment.memory, 0u);
            ASSERT_EQ(piece.io_size, piece.size);
            ASSERT_LE(piece.io_size, limits.direct);
            break;
        case Path::bounced:
            ASSERT_LE(piece.io_size, limits.bounced);
            if (transfer.write) {
                ASSERT_EQ(piece.io_size, piece.size) << "a bounced write would overwrite its neighbours";
            }
            break;
        case Path::merged:
            ASSERT_TRUE(transfer.write);
            ASSERT_EQ(piece.io_size, alignment.offset);
            ASSERT_LT(piece.size, alignment.offset);
            break;
        }
        done += piece.size;
    }
    ASSERT_EQ(done, transfer.size);
}

std::byte *at(uintptr_t address) {
    return reinterpret_cast<std::byte *>(address);
} // never touched

TEST(Pieces, CoverEveryTransferWithWhatDirectIoTakes) {
    std::mt19937_64 random(20240229);
    for (int round = 0; round < 20000 && !HasFatalFailure(); ++round) {
        const uint32_t unit = 512u << random() % 4, memory = 4u << random() % 11;
        Transfer transfer;
        transfer.write = random() % 2;
        transfer.offset = random() % 2 ? random() % 100000 : random() % 200 * unit;
        transfer.size = 1 + (random() % 2 ? random() % 1000000 : random() % 2000);
        transfer.memory = at(0x100000 + (random() % 2 ? random() % 8192 : random() % 16 * 4096));
        SCOPED_TRACE(::testing::Message() << "offset " << transfer.offset << " size " << transfer.size << " memory "
                                          << static_cast<void *>(transfer.memory) << " unit " << unit << " write "
                                          << transfer.write);
        check(transfer, {memory, unit}, {128u << 10, 32u << 10});
    }
}

TEST(Pieces, AlignedTransferIsDirectThroughout) {
    const Transfer transfer{false, 1 << 20, 3 << 20, at(0x200000)};
    for (uint64_t done = 0; done < transfer.size;) {
        const Piece piece = next_piece(transfer, done, {512, 512}, {});
        EXPECT_EQ(piece.path, Path::direct);
        EXPECT_EQ(piece.size, 1u << 20);
        done += piece.size;
    }
}

TEST(Pieces, UnalignedWriteMergesOnlyItsEnds) {
    const Transfer transfer{true, 100, 3 * 4096, at(0x200000 + 100)};
    uint64_t done = 0;
    std::vector<Path> paths;
    while (done < transfer.size) {
        const Piece piece = next_piece(transfer, done, {4096, 4096}, {});
        paths.push_back(piece.path);
        done += piece.size;
    }
    EXPECT_EQ(paths, (std::vector{Path::merged, Path::direct, Path::merged}));
}

TEST(Pieces, OffsetsBeyondFourGiB) {
    const Transfer transfer{true, (4ull << 30) - 8192, 16384, at(0x200000)};
    const Piece piece = next_piece(transfer, 0, {512, 512}, {});
    EXPECT_EQ(piece.path, Path::direct);
    EXPECT_EQ(piece.size, 16384u);
    EXPECT_EQ(piece.io_offset, (4ull << 30) - 8192);
}

TEST(Pieces, BufferedIoTakesAnything) {
    const Transfer transfer{true, 3, 5, at(0x200001)};
    const Piece piece = next_piece(transfer, 0, {1, 1}, {});
    EXPECT_EQ(piece.path, Path::direct);
    EXPECT_EQ(piece.size, 5u);
}

} // namespace
} // namespace hbf::host
