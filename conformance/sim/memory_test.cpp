// SPDX-License-Identifier: Apache-2.0
// Where bytes are, and what it takes to see them.
#include <algorithm>

#include <unistd.h>

#include "conformance/sim/testing.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::sim {
namespace {

uint64_t resident_bytes() {
    uint64_t total = 0, resident = 0;
    std::FILE *const file = std::fopen("/proc/self/statm", "r");
    EXPECT_EQ(std::fscanf(file, "%lu %lu", &total, &resident), 2);
    std::fclose(file);
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(SimMemory, AStoreIsSeenByTheDeviceAfterAFlushAndNotBefore) {
    Device device;
    const auto from = device->must_alloc(vram, 4096), to = device->must_alloc(coherent, 4096);
    const Queue queue(device.instance());
    put_word(from, 0x1122334455667788);
    device->must_run(queue, {copy_command(to.region, 0, from.region, 0, 4096)});
    EXPECT_EQ(word_at(to), 0u);
    device->must_run(
        queue, {flush_command(from.region, 0, 8), barrier_command(), copy_command(to.region, 0, from.region, 0, 4096)});
    EXPECT_EQ(word_at(to), 0x1122334455667788u);
}

TEST(SimMemory, TheDevicesBytesAreSeenAfterAnInvalidateAndNotBefore) {
    Device device;
    const auto region = device->must_alloc(vram, 4096);
    const Queue queue(device.instance());
    device->must_run(queue, {fill_command(region.region, 0, 4096, 0xab, 1)});
    EXPECT_EQ(word_at(region), 0u);
    device->must_run(queue, {invalidate_command(region.region, 8, 8)});
    EXPECT_EQ(word_at(region), 0xababababababababu); // the line around it
    EXPECT_EQ(word_at(region, 120), 0xababababababababu);
    EXPECT_EQ(word_at(region, 128), 0u); // and no other
}

TEST(SimMemory, FlushMovesWholeLinesAndNoMore) {
    Device device;
    const auto region = device->must_alloc(vram, 4096);
    const Queue queue(device.instance());
    put_word(region, 1, 128), put_word(region, 2, 248), put_word(region, 3, 256);
    device->must_run(queue, {flush_command(region.region, 130, 1)});
    std::memset(bytes_of(region), 0xff, 4096);
    device->must_run(queue, {invalidate_command(region.region, 0, 4096)});
    EXPECT_EQ(word_at(region, 128), 1u);
    EXPECT_EQ(word_at(region, 248), 2u);
    EXPECT_EQ(word_at(region, 256), 0u);
    EXPECT_EQ(word_at(region, 120), 0u);
}

TEST(SimMemory, CopiesAndFillsAreExactAtEveryOffsetAndTier) {
    Device device;
    ByteAccess access(device.instance());
    for (const uint32_t from : {vram, coherent, cold})
        for (const uint32_t to : {vram, coherent, cold}) {
            const auto src = device->must_alloc(from, 300'000), dst = device->must_alloc(to, 300'000);
            Random random(from * 3 + to);
            std::vector<std::byte> pattern(300'000), model(300'000, std::byte{0x5a});
            for (std::byte &byte : pattern) byte = static_cast<std::byte>(random());
            access.write(src, 0, pattern);
            access.write(dst, 0, model);
            for (int i = 0; i < 40; ++i) {
                const uint64_t size = random.between(1, i % 4 == 0 ? 140'000 : 300), at = random.below(300'000 - size),
                               into = random.below(300'000 - size);
                device->must_run(access.queue(), {copy_command(dst.region, into, src.region, at, size)});
                std::copy_n(pattern.begin() + static_cast<ptrdiff_t>(at), size,
                            model.begin() + static_cast<ptrdiff_t>(into));
                const uint64_t fill = random.between(1, 70'000), where = random.below(300'000 - fill), word = random();
                const auto width = static_cast<uint32_t>(1u << random.below(4));
                device->must_run(access.queue(), {fill_command(dst.region, where, fill, word, width)});
                for (uint64_t j = 0; j < fill; ++j) model[where + j] = static_cast<std::byte>(word >> (8 * (j % width)));
            }
            EXPECT_EQ(access.read(dst, 0, 300'000), model) << "from tier " << from << " to " << to;
            device->must_free(src.region), device->must_free(dst.region);
        }
}

TEST(SimMemory, ChecksumsAreOfTheSourcePieceByPiece) {
    Device device;
    ByteAccess access(device.instance());
    constexpr uint64_t size = 3 * HBF_CRC_PIECE + 77;
    const auto src = device->must_alloc(cold, size + 5), dst = device->must_alloc(coherent, size);
    std::vector<std::byte> bytes(100'000);
    Random random(7);
    for (std::byte &byte : bytes) byte = static_cast<std::byte>(random());
    access.write(src, HBF_CRC_PIECE + 5, bytes);
    std::vector<uint32_t> crc(4, 1);
    device->must_run(access.queue(), {copy_command(dst.region, 0, src.region, 5, size, crc.data())});
    for (uint64_t i = 0; i < 4; ++i) {
        const uint64_t length = std::min<uint64_t>(HBF_CRC_PIECE, size - i * HBF_CRC_PIECE);
        EXPECT_EQ(crc[i], kernels::crc32c(bytes_of(dst) + i * HBF_CRC_PIECE, length)) << i;
    }
}

TEST(SimMemory, RegionsOverFourGibibytesCostWhatIsWritten) {
    Device device;
    ByteAccess access(device.instance());
    constexpr uint64_t size = (uint64_t{5} << 30) + 4096, far = (uint64_t{4} << 30) + 123;
    const auto src = device->must_alloc(cold, size), dst = device->must_alloc(cold, size);
    const std::vector<std::byte> mark(1000, std::byte{0x77});
    access.write(src, far, mark);
    const uint64_t before = resident_bytes();
    device->must_run(access.queue(), {copy_command(dst.region, 1, src.region, 0, size - 1)});
    EXPECT_LT(resident_bytes(), before + (64 << 20));
    EXPECT_EQ(access.read(dst, far + 1, 1000), mark);
    EXPECT_EQ(access.read(dst, 124, 1000), std::vector<std::byte>(1000)) << "the offset lost its upper half";
}

TEST(SimMemory, RegisteredMemoryIsTheCallersOwn) {
    Device device;
    std::vector<std::byte> mine(5000, std::byte{3});
    hbf_region_info region{};
    ASSERT_EQ(device->register_host(mine.data() + 1, 4000, region).status, HBF_OK);
    EXPECT_EQ(region.tier, HBF_TIER_NONE);
    const Queue queue(device.instance());
    device->must_run(queue, {fill_command(region.region, 0, 4000, 9, 1)});
    EXPECT_EQ(std::count(mine.begin(), mine.end(), std::byte{9}), 4000);
    EXPECT_EQ(mine[0], std::byte{3});
    EXPECT_EQ(mine[4001], std::byte{3});
}

TEST(SimMemory, AFullTierSaysSoAndTakesBack) {
    Device device(OptionList{{"sim.vram", "2MiB"}});
    const auto first = device->must_alloc(vram, 1 << 20), second = device->must_alloc(vram, 1 << 20);
    hbf_region_info third{};
    EXPECT_EQ(device->alloc(vram, 1, third).status, HBF_EXHAUSTED);
    EXPECT_EQ(device->describe(vram).available, 0u);
    device->must_free(first.region);
    EXPECT_EQ(device->alloc(vram, 1 << 20, third).status, HBF_OK);
    EXPECT_EQ(device->free(first.region).status, HBF_INVALID);
    device->must_free(second.region);
    EXPECT_EQ(device->alloc(vram, 4096, third, 4 << 20).status, HBF_UNSUPPORTED);
    ASSERT_EQ(device->alloc(vram, 4096, third, 2 << 20).status, HBF_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(third.address) % (2 << 20), 0u);
}

} // namespace
} // namespace hbf::sim
