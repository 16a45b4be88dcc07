// SPDX-License-Identifier: Apache-2.0
// Faults of commands: what they do to bytes, and what they let through.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

constexpr uint64_t size = 16384;

// A region of known bytes and one of 0xee, behind a fault.
struct Scene {
    explicit Scene(const std::string &fault) : device(fault) {
        EXPECT_NE(device.instance, nullptr) << fault << ": " << device.answer.message;
        src = device.alloc(size), dst = device.alloc(size);
        count_up(src);
        std::memset(dst.address, 0xee, size);
        queue = device.make_queue();
    }
    hbf_status run(const std::vector<hbf_command> &commands) { return device.run(queue, commands).status; }
    bool untouched() const {
        return std::all_of(bytes(dst), bytes(dst) + size, [](unsigned char b) { return b == 0xee; });
    }
    bool arrived(uint64_t to, uint64_t from, uint64_t count) const {
        return std::memcmp(bytes(dst) + to, bytes(src) + from, count) == 0;
    }
    Wrapped device;
    hbf_region_info src, dst;
    hbf_queue *queue = nullptr;
};

TEST(Commands, StuckBitReadsTheSameInEveryWord) {
    Scene scene("stuck,bit=9,value=1");
    ASSERT_EQ(scene.run({copy(scene.dst, 3, scene.src, 3, 1000)}), HBF_OK);
    for (uint64_t i = 3; i < 1003; ++i)
        EXPECT_EQ(bytes(scene.dst)[i], i % 8 == 1 ? bytes(scene.src)[i] | 2 : bytes(scene.src)[i]) << i;
}

TEST(Commands, StaleDeliversTheGenerationBefore) {
    Scene scene("stale,after=1");
    const auto round = [&](unsigned char generation) {
        std::memset(scene.src.address, generation, 256);
        EXPECT_EQ(scene.run({copy(scene.dst, 0, scene.src, 0, 256)}), HBF_OK);
        return static_cast<int>(bytes(scene.dst)[100]);
    };
    EXPECT_EQ(round(1), 1);
    EXPECT_EQ(round(2), 2); // the first event passes
    EXPECT_EQ(round(3), 2);
}

TEST(Commands, NotWrittenKeepsTheDestination) {
    Scene scene("not-written");
    EXPECT_EQ(scene.run({copy(scene.dst, 0, scene.src, 0, 256)}), HBF_OK);
    EXPECT_TRUE(scene.untouched());
}

TEST(Commands, TornStaysHalf) {
    Scene scene("torn,stays=yes");
    EXPECT_EQ(scene.run({copy(scene.dst, 8, scene.src, 8, 8)}), HBF_OK);
    EXPECT_TRUE(scene.arrived(8, 8, 4));
    EXPECT_EQ(bytes(scene.dst)[12], 0xee);
    Scene passing("torn");
    EXPECT_EQ(passing.run({copy(passing.dst, 8, passing.src, 8, 8)}), HBF_OK);
    EXPECT_TRUE(passing.arrived(8, 8, 8));
}

TEST(Commands, NeighbourLostUndoesAStoreBesideACopy) {
    Scene scene("neighbour-lost,us=0");
    EXPECT_EQ(scene.run({copy(scene.dst, 16, scene.src, 16, 16)}), HBF_OK);
    EXPECT_TRUE(scene.arrived(16, 16, 16)); // and what lies beside it is as before: nobody else wrote
    bytes(scene.dst)[16] = 0xee;
    std::memset(bytes(scene.dst) + 16, 0xee, 16);
    EXPECT_TRUE(scene.untouched());
}

TEST(Commands, GuardWriteChangesBytesBeside) {
    Scene after("guard-write,bytes=2");
    EXPECT_EQ(after.run({copy(after.dst, 64, after.src, 64, 100)}), HBF_OK);
    EXPECT_TRUE(after.arrived(64, 64, 100));
    EXPECT_NE(bytes(after.dst)[164], 0xee);
    EXPECT_NE(bytes(after.dst)[165], 0xee);
    EXPECT_EQ(bytes(after.dst)[166], 0xee);
    Scene before("guard-write,side=before,kind=fill");
    EXPECT_EQ(before.run({copy(before.dst, 64, before.src, 64, 100)}), HBF_OK);
    EXPECT_EQ(bytes(before.dst)[63], 0xee); // no fill
    EXPECT_EQ(before.run({fill(before.dst, 1000, 10, 7)}), HBF_OK);
    EXPECT_NE(bytes(before.dst)[999], 0xee);
    EXPECT_EQ(bytes(before.dst)[1010], 0xee);
}

TEST(Commands, TailRoundedWritesToTheNextLine) {
    Scene scene("tail-rounded-to-64");
    EXPECT_EQ(scene.run({copy(scene.dst, 0, scene.src, 0, 65)}), HBF_OK);
    EXPECT_TRUE(scene.arrived(0, 0, 128));
    EXPECT_EQ(bytes(scene.dst)[128], 0xee);
}

TEST(Commands, TheRightBytesInTheWrongPlace) {
    Scene misdirect("misdirect,bytes=512");
    EXPECT_EQ(misdirect.run({copy(misdirect.dst, 0, misdirect.src, 0, 64)}), HBF_OK);
    EXPECT_TRUE(misdirect.arrived(512, 0, 64));
    EXPECT_EQ(bytes(misdirect.dst)[0], 0xee);
    Scene off("offset-off-by-one");
    EXPECT_EQ(off.run({copy(off.dst, 0, off.src, 16, 64)}), HBF_OK);
    EXPECT_TRUE(off.arrived(0, 16, 64));
    EXPECT_EQ(off.run({copy(off.dst, 0, off.src, 17, 64)}), HBF_OK);
    EXPECT_TRUE(off.arrived(0, 18, 64));
    Scene swapped("src-dst-swapped");
    EXPECT_EQ(swapped.run({copy(swapped.dst, 0, swapped.src, 0, 64)}), HBF_OK);
    EXPECT_TRUE(swapped.untouched());
    EXPECT_EQ(bytes(swapped.src)[0], 0xee);
    Scene alias("address-bit-ignored,bit=12");
    EXPECT_EQ(alias.run({copy(alias.dst, 4096, alias.src, 0, 64)}), HBF_OK);
    EXPECT_TRUE(alias.arrived(4096, 0, 64));
    EXPECT_TRUE(alias.arrived(0, 0, 64));
}

TEST(Commands, TruncationsByBits) {
    Scene length("truncate-32bit,bits=8");
    EXPECT_EQ(length.run({copy(length.dst, 0, length.src, 0, 256 + 5)}), HBF_OK);
    EXPECT_TRUE(length.arrived(0, 0, 5));
    EXPECT_EQ(bytes(length.dst)[5], 0xee);
    Scene offset("offset-truncated-32bit,bits=8");
    EXPECT_EQ(offset.run({copy(offset.dst, 256 + 9, offset.src, 0, 5)}), HBF_OK);
    EXPECT_TRUE(offset.arrived(9, 0, 5));
    EXPECT_EQ(bytes(offset.dst)[265], 0xee);
}

TEST(Commands, ListsOfCopies) {
    const auto list = [](Scene &scene) {
        return std::vector<hbf_command>{copy(scene.dst, 0, scene.src, 0, 16), copy(scene.dst, 100, scene.src, 500, 16),
                                        copy(scene.dst, 200, scene.src, 900, 16)};
    };
    Scene stride("stride-ignored");
    EXPECT_EQ(stride.run(list(stride)), HBF_OK);
    EXPECT_TRUE(stride.arrived(0, 0, 16) && stride.arrived(16, 500, 16) && stride.arrived(32, 900, 16));
    Scene order("sg-order-wrong");
    EXPECT_EQ(order.run(list(order)), HBF_OK);
    EXPECT_TRUE(order.arrived(0, 500, 16) && order.arrived(100, 0, 16) && order.arrived(200, 900, 16));
    Scene last("sg-last-entry-dropped");
    EXPECT_EQ(last.run(list(last)), HBF_OK);
    EXPECT_TRUE(last.arrived(100, 500, 16));
    EXPECT_EQ(bytes(last.dst)[200], 0xee);
    Scene cut("batch-cut,commands=1");
    EXPECT_EQ(cut.run(list(cut)), HBF_OK);
    EXPECT_TRUE(cut.arrived(0, 0, 16));
    EXPECT_EQ(bytes(cut.dst)[100], 0xee);
}

TEST(Commands, Fills) {
    Scene odd("fill-odd-length-wrong");
    EXPECT_EQ(odd.run({fill(odd.dst, 0, 19, 7)}), HBF_OK);
    EXPECT_EQ(bytes(odd.dst)[15], 7);
    EXPECT_EQ(bytes(odd.dst)[16], 0xee);
    Scene width("fill-width-approximated");
    hbf_command three = fill(width.dst, 0, 24, 7);
    three.u.fill.pattern_size = 3;
    EXPECT_EQ(width.run({three}), HBF_OK);
    EXPECT_EQ(bytes(width.dst)[0], 7);
    EXPECT_EQ(bytes(width.dst)[1], 0);
}

// What must be refused is taken.
TEST(Commands, TakenWhereTheyMustBeRefused) {
    Scene none("");
    Scene zero("zero-command-ok,kind=copy"), beyond("range-unchecked"), wraps("range-unchecked,what=wraps"),
        kind("unknown-command-ok"), flag("unknown-command-ok,what=flag"), overlap("overlap-as-memcpy"),
        twice("dead-handle-ok,what=copy");
    const auto both = [&](Scene &scene, const auto &command) {
        EXPECT_EQ(none.run({command(none)}), HBF_INVALID);
        EXPECT_EQ(scene.run({command(scene)}), HBF_OK);
    };
    both(zero, [](Scene &s) { return copy(s.dst, 0, s.src, 0, 0); });
    EXPECT_EQ(zero.run({fill(zero.dst, 0, 0, 1)}), HBF_INVALID);
    both(beyond, [](Scene &s) { return copy(s.dst, size - 10, s.src, 0, 11); });
    both(wraps, [](Scene &s) { return copy(s.dst, UINT64_MAX - 2, s.src, 0, 11); });
    EXPECT_EQ(wraps.run({copy(wraps.dst, size - 10, wraps.src, 0, 11)}), HBF_INVALID);
    both(kind, [](Scene &s) {
        hbf_command command = copy(s.dst, 0, s.src, 0, 10);
        command.kind = 77;
        return command;
    });
    both(flag, [](Scene &s) {
        hbf_command command = copy(s.dst, 0, s.src, 0, 10);
        command.flags = 1u << 20;
        return command;
    });
    EXPECT_TRUE(flag.arrived(0, 0, 10));
    both(overlap, [](Scene &s) { return copy(s.src, 64, s.src, 0, 256); });
    EXPECT_EQ(std::memcmp(bytes(overlap.src), bytes(overlap.src) + 256, 64), 0); // the first 64 bytes, again and again
    both(twice, [](Scene &s) {
        s.device.free(s.src.region);
        return copy(s.dst, 0, s.src, 0, 10);
    });
}

TEST(Commands, RefusedWhereTheyMustBeTaken) {
    Scene last("last-byte-refused"), adjoining("adjoining-refused");
    EXPECT_EQ(last.run({fill(last.dst, size - 8, 8, 1)}), HBF_INVALID);
    EXPECT_EQ(last.run({fill(last.dst, size - 9, 8, 1)}), HBF_OK);
    EXPECT_EQ(adjoining.run({copy(adjoining.dst, 100, adjoining.dst, 0, 100)}), HBF_INVALID);
    EXPECT_EQ(adjoining.run({copy(adjoining.dst, 101, adjoining.dst, 0, 100)}), HBF_OK);
}

TEST(Commands, RefusedBatchesLeaveSomething) {
    const auto bad = [](Scene &s) {
        return std::vector<hbf_command>{copy(s.dst, 0, s.src, 0, 100), copy(s.dst, size, s.src, 0, 1)};
    };
    uint64_t value = 0;
    Scene half("refused-batch"), spent("refused-batch,what=value-spent"), set("refused-batch,what=value-set");
    EXPECT_EQ(half.device.submit(half.queue, bad(half), value).status, HBF_INVALID);
    EXPECT_TRUE(half.arrived(0, 0, 100));
    EXPECT_EQ(spent.device.submit(spent.queue, bad(spent), value).status, HBF_INVALID);
    EXPECT_EQ(spent.device.submit(spent.queue, {}, value).status, HBF_OK);
    EXPECT_EQ(value, 2u);
    EXPECT_EQ(set.device.submit(set.queue, bad(set), value).status, HBF_INVALID);
    EXPECT_NE(value, 0u);
}

TEST(Commands, StrideOfTheHostIsIgnored) {
    Scene scene("command-stride-ignored");
    std::vector<hbf_command> apart(4); // every second one counts
    apart[0] = copy(scene.dst, 0, scene.src, 0, 16);
    apart[1] = copy(scene.dst, 100, scene.src, 0, 16);
    apart[2] = copy(scene.dst, 200, scene.src, 0, 16);
    const hbf_batch batch{sizeof batch, 2 * sizeof(hbf_command), apart.data(), 2};
    uint64_t value = 0;
    ASSERT_EQ(scene.device.queue->submit(scene.queue, &batch, &value, nullptr), HBF_OK);
    EXPECT_EQ(scene.device.wait(scene.queue, value).status, HBF_OK);
    EXPECT_TRUE(scene.arrived(100, 0, 16));
    EXPECT_EQ(bytes(scene.dst)[200], 0xee);
}

TEST(Commands, OneTooManyIsTakenWithoutTheLast) {
    Scene scene("too-many-commands-ok");
    const hbf_queue_desc desc{sizeof desc, 0, 2, 0};
    hbf_queue *queue = nullptr;
    ASSERT_EQ(scene.device.queue->create(scene.device.instance, &desc, &queue, nullptr), HBF_OK);
    const std::vector<hbf_command> three = {copy(scene.dst, 0, scene.src, 0, 8), copy(scene.dst, 8, scene.src, 8, 8),
                                            copy(scene.dst, 16, scene.src, 16, 8)};
    EXPECT_EQ(scene.device.run(queue, three).status, HBF_OK);
    EXPECT_TRUE(scene.arrived(0, 0, 16));
    EXPECT_EQ(bytes(scene.dst)[16], 0xee);
}

TEST(Commands, OnlyInTheTierThatIsNamed) {
    Wrapped device("not-written,tier=hbf0");
    ASSERT_NE(device.instance, nullptr) << device.answer.message;
    hbf_tier_info first{};
    first.struct_size = sizeof first;
    ASSERT_EQ(device.tier->describe(device.instance, 0, &first, nullptr), HBF_OK);
    const uint32_t hbf = std::string(first.name) == "hbf0" ? 0 : 1;
    const hbf_region_info here = device.alloc(64, hbf), there = device.alloc(64, 1 - hbf);
    EXPECT_EQ(device.run(device.make_queue(), {fill(here, 0, 64, 5), fill(there, 0, 64, 5)}).status, HBF_OK);
    EXPECT_EQ(bytes(here)[0], 0);
    EXPECT_EQ(bytes(there)[0], 5);
}

} // namespace
} // namespace hbf::inject::testing
