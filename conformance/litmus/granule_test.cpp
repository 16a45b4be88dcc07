// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>

#include "conformance/litmus/granule.hpp"
#include "conformance/litmus/testing.hpp"

namespace hbf::litmus {
namespace {

using ::testing::HasSubstr;
using testing::Memory;

TEST(Granule, ReadsBackAsWritten) {
    const Memory memory(granule_size);
    write_granule(memory.bytes(), {5, 77});
    const Reading reading = read_granule(memory.bytes());
    EXPECT_EQ(reading.kind, Reading::whole);
    EXPECT_EQ(reading.first, (Stamp{5, 77}));
}

TEST(Granule, TellsWhereTwoVersionsMeet) {
    const Memory one(granule_size), two(granule_size);
    write_granule(one.bytes(), {1, 2});
    write_granule(two.bytes(), {1, 3});
    copy_words(one.bytes().first(640), two.bytes().first(640));
    const Reading reading = read_granule(one.bytes());
    EXPECT_EQ(reading.kind, Reading::mixed);
    EXPECT_EQ(reading.offset, 640u);
    EXPECT_EQ(reading.first.version, 3u);
    EXPECT_EQ(reading.other.version, 2u);
    EXPECT_EQ(reading.wrong_lines, granule_size / 64 - 10);
}

TEST(Granule, AnyFlippedBitLineOutOfPlaceOrPoisonIsDamage) {
    const Memory memory(4096);
    for (uint64_t bit = 0; bit < 512; ++bit) {
        write_granule(memory.bytes(), {1, 9});
        memory.bytes()[64 + bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        const Reading reading = read_granule(memory.bytes());
        ASSERT_EQ(reading.kind, Reading::damaged) << bit;
        ASSERT_EQ(reading.offset, 64u);
    }
    write_granule(memory.bytes(), {1, 9});
    std::memcpy(memory.bytes().data() + 128, memory.bytes().data() + 192, 64);
    EXPECT_EQ(read_granule(memory.bytes()).kind, Reading::damaged);
    fill_words(memory.bytes(), 0xdeaddeaddeaddead);
    const Reading poisoned = read_granule(memory.bytes());
    EXPECT_EQ(poisoned.kind, Reading::damaged);
    EXPECT_EQ(poisoned.wrong_lines, 64u);
    EXPECT_THAT(to_string(poisoned), HasSubstr("0xdead"));
}

// The control of the migration shapes: a reader beside a copy without any protocol sees pieces of two versions.
TEST(Granule, ACopyWithoutProtocolIsSeenTorn) {
    if (!testing::two_cpus()) GTEST_SKIP() << "reader and writer must run together: two CPUs";
    const Memory shared(granule_size), source(granule_size);
    write_granule(shared.bytes(), {1, 1});
    std::atomic<bool> over{false};
    std::thread writer([&] {
        for (uint64_t version = 2; !over; ++version) {
            write_granule(source.bytes(), {1, version});
            copy_words(shared.bytes(), source.bytes());
        }
    });
    uint64_t torn = 0;
    for (uint64_t reads = 0; reads < 2'000'000 && torn < 7; ++reads)
        torn += read_granule(shared.bytes()).kind != Reading::whole;
    over = true;
    writer.join();
    EXPECT_GE(torn, 7u);
}

} // namespace
} // namespace hbf::litmus
