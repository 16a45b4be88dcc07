// SPDX-License-Identifier: Apache-2.0
// The litmus agents for devices, by their twins: groups on threads are agents that meet, and one that waits in vain ends.
#include <gtest/gtest.h>

#include "conformance/litmus/testing.hpp"
#include "kernels/device/catalogue.hpp"
#include "kernels/device/litmus_add.h"
#include "kernels/device/litmus_shape.h"
#include "kernels/device/litmus_store.h"
#include "kernels/device/litmus_tear.h"

namespace hbf::litmus {
namespace {

using namespace kernels::device;
using testing::Memory;

constexpr uint32_t operation(uint32_t what, uint32_t order, uint32_t location, uint32_t value = 0) {
    return what | order << 8 | location << 16 | value << 24;
}

struct Launched {
    Memory words, meeting, results;
    litmus_shape_arguments arguments{};

    Launched() {
        arguments.first = 1000, arguments.instances = 64, arguments.agents = 2, arguments.acting = 2;
        arguments.spins = 1u << 30, arguments.meet_each = 1, arguments.stride = 128;
        for (uint32_t i = 0; i < HBF_LITMUS_LOCATIONS; ++i)
            arguments.base[i] = i * 65536, arguments.factor[i] = 2 * i + 1, arguments.offset[i] = i;
    }
    void group(uint32_t number) {
        const TwinBuffer buffers[] = {{words.bytes().data(), words.bytes().size()},
                                      {meeting.bytes().data(), meeting.bytes().size()},
                                      {results.bytes().data(), results.bytes().size()}};
        const uint32_t index[] = {number, 0, 0}, groups[] = {2, 1, 1}, size[] = {1, 1, 1};
        find("litmus_shape/1")->run_group(buffers, &arguments, index, groups, size);
    }
    const litmus_shape_head &head(uint32_t group) const {
        return *reinterpret_cast<const litmus_shape_head *>(results.bytes().data() +
                                                            litmus_shape_result_size(arguments.instances) * group);
    }
    uint64_t seen(uint32_t group, uint32_t instance, uint32_t load) const {
        return reinterpret_cast<const uint64_t *>(&head(group) + 1)[instance * 4 + load];
    }
    uint64_t word(uint32_t location, uint32_t instance) const {
        const uint32_t place = (instance * arguments.factor[location] + arguments.offset[location]) % arguments.instances;
        return *reinterpret_cast<const uint64_t *>(words.bytes().data() + arguments.base[location] +
                                                   place * arguments.stride);
    }
};

TEST(LitmusShape, GroupsMeetAndPassMessages) {
    Launched launched;
    auto &steps = launched.arguments.step;
    steps[0][0] = operation(HBF_LITMUS_STORE, HBF_LITMUS_RELAXED, 0, 1);
    steps[0][1] = operation(HBF_LITMUS_STORE, HBF_LITMUS_RELEASE, 1, 2);
    steps[1][0] = operation(HBF_LITMUS_LOAD, HBF_LITMUS_ACQUIRE, 1);
    steps[1][1] = operation(HBF_LITMUS_LOAD, HBF_LITMUS_RELAXED, 0);
    std::thread other([&] { launched.group(0); });
    launched.group(1);
    other.join();
    for (uint32_t group : {0u, 1u}) EXPECT_EQ(launched.head(group).ran, launched.arguments.instances);
    for (uint32_t i = 0; i < launched.arguments.instances; ++i) {
        const uint64_t tag = (launched.arguments.first + i) << 4;
        EXPECT_EQ(launched.word(0, i), tag | 1);
        EXPECT_EQ(launched.word(1, i), tag | 2);
        if (launched.seen(1, i, 0) == (tag | 2)) {
            EXPECT_EQ(launched.seen(1, i, 1), tag | 1) << "instance " << i << ": the flag, without the payload";
        } else {
            EXPECT_EQ(launched.seen(1, i, 0), 0u);
        }
    }
}

TEST(LitmusShape, WhoWaitsInVainEndsAndTellsTheOthers) {
    Launched launched;
    launched.arguments.spins = 1000;
    launched.arguments.step[0][0] = operation(HBF_LITMUS_STORE, HBF_LITMUS_SEQ_CST, 0, 1);
    launched.group(0); // alone: nobody comes
    EXPECT_EQ(launched.head(0).ran, 0u);
    EXPECT_EQ(launched.word(0, 0), 0u) << "an agent that met nobody has no say";
    launched.arguments.spins = 1u << 30;
    launched.group(1); // learns at once that the other has gone
    EXPECT_EQ(launched.head(1).ran, 0u);
}

TEST(LitmusShape, OthersTakeTheAgentsThatAreNotItsOwn) {
    Launched launched;
    launched.arguments.first_agent = 1, launched.arguments.acting = 1;
    launched.arguments.meet_each = 0;
    launched.arguments.step[1][0] = operation(HBF_LITMUS_STORE, HBF_LITMUS_RELAXED, 2, 3);
    *reinterpret_cast<uint64_t *>(launched.meeting.bytes().data()) = 2; // agent 0 has come
    launched.group(0);
    launched.group(1); // one too many: does nothing
    EXPECT_EQ(launched.head(0).ran, launched.arguments.instances);
    EXPECT_EQ(launched.word(2, 5), (launched.arguments.first + 5) << 4 | 3);
}

TEST(LitmusAdd, NothingIsLostBetweenThreads) {
    const Memory words(4096);
    const litmus_add_arguments arguments{7, 8, 20000, 4, 0};
    const TwinBuffer buffer{words.bytes().data(), words.bytes().size()};
    const auto group = [&](uint32_t number) {
        const uint32_t index[] = {number, 0, 0}, groups[] = {2, 1, 1}, size[] = {3, 1, 1};
        find("litmus_add/1")->run_group(&buffer, &arguments, index, groups, size);
    };
    std::thread other([&] { group(0); });
    group(1);
    other.join();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 8; ++i) sum += reinterpret_cast<const uint32_t *>(words.bytes().data())[i];
    EXPECT_EQ(sum, 6u * arguments.turns);
}

TEST(LitmusTear, CountsWordsOfTwoStores) {
    const Memory words(4096), result(4096);
    auto *const word = reinterpret_cast<uint64_t *>(words.bytes().data());
    for (uint64_t i = 0; i < 8; ++i) word[i] = i << 32 | i;
    word[5] = 0x500000006;
    litmus_tear_arguments arguments{8, 3, 0, 0, HBF_LITMUS_SYSTEM, 0};
    const TwinBuffer buffers[] = {{words.bytes().data(), 4096}, {result.bytes().data(), 4096}};
    const uint32_t one[] = {1, 1, 1};
    run(*find("litmus_tear/1"), buffers, &arguments, one, one);
    const auto &counted = *reinterpret_cast<const litmus_tear_result *>(result.bytes().data());
    EXPECT_EQ(counted.loaded, 24u);
    EXPECT_EQ(counted.torn, 3u);
    EXPECT_EQ(counted.number, 5u);
    EXPECT_EQ(counted.seen, 0x500000006u);
    for (const uint32_t split : {0u, 1u}) {
        arguments = {8, 1, 1, split, HBF_LITMUS_DEVICE, 0x1234};
        run(*find("litmus_tear/1"), buffers, &arguments, one, one);
        for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(word[i], (0x1234 + i) << 32 | (0x1234 + i));
    }
}

TEST(LitmusStore, StoresTheGenerationWhereItIsTold) {
    const Memory bytes(4096);
    const litmus_store_arguments arguments{5, 100, 3, 77};
    const TwinBuffer buffer{bytes.bytes().data(), 4096};
    const uint32_t groups[] = {2, 1, 1}, size[] = {7, 1, 1};
    run(*find("litmus_store/1"), &buffer, &arguments, groups, size);
    for (uint64_t i = 0; i < 4096; ++i) {
        const bool inside = i >= 5 && i < 105;
        EXPECT_EQ(static_cast<uint8_t>(bytes.bytes()[i]), inside ? litmus_store_byte(3, 77 + i - 5) : 0) << i;
    }
}

} // namespace
} // namespace hbf::litmus
