// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/host/machine_fixture.hpp"
#include "core/host/memory_room.hpp"

using namespace hbf::host;
using testing::HasSubstr;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

class MemoryRoomTest : public testing::Test {
protected:
    MemoryRoom room(int node = -1) {
        std::vector<std::string> problems;
        Reader reader(machine.root(), problems);
        return memory_room(reader, node);
    }
    hbf::test::FakeMachine machine;
};

TEST_F(MemoryRoomTest, MemAvailableWithoutOtherLimits) {
    machine.two_sockets_with_cxl();
    EXPECT_EQ(room().bytes, 192 * gib);
    EXPECT_EQ(room().limited_by, "MemAvailable");
}

TEST_F(MemoryRoomTest, ANodeCountsItsFreeMemoryAndHalfItsCache) {
    machine.two_sockets_with_cxl();
    EXPECT_EQ(room(1).bytes, 64 * gib);
    EXPECT_EQ(room(1).limited_by, "NUMA node 1");
    machine.file("sys/devices/system/node/node1/meminfo",
                 "Node 1 MemTotal: 134217728 kB\nNode 1 MemFree: 1048576 kB\n"
                 "Node 1 Active(file): 2097152 kB\nNode 1 Inactive(file): 2097152 kB\n");
    EXPECT_EQ(room(1).bytes, 3 * gib);
    EXPECT_EQ(room(9).limited_by, "MemAvailable");
}

TEST_F(MemoryRoomTest, EachControlGroupOnTheWayUpCounts) {
    machine.basics().file("proc/self/cgroup", "0::/a/b\n");
    machine.file("sys/fs/cgroup/a/b/memory.max", "max\n").file("sys/fs/cgroup/a/b/memory.current", "1\n");
    machine.file("sys/fs/cgroup/a/memory.max", std::to_string(4 * gib))
        .file("sys/fs/cgroup/a/memory.current", std::to_string(3 * gib));
    EXPECT_EQ(room().bytes, gib);
    EXPECT_THAT(room().limited_by, HasSubstr("sys/fs/cgroup/a/memory.max"));
    machine.file("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file " + std::to_string(gib) + "\n");
    EXPECT_EQ(room().bytes, 2 * gib) << "droppable cache is not in the way";
    machine.file("sys/fs/cgroup/a/b/memory.max", std::to_string(gib / 2));
    EXPECT_EQ(room().bytes, gib / 2 - 1);
    machine.file("sys/fs/cgroup/a/memory.current", std::to_string(9 * gib));
    EXPECT_EQ(room().bytes, 0u) << "over its limit";
}

TEST_F(MemoryRoomTest, AnUnreadableLimitLeavesNoRoom) {
    machine.basics().file("proc/self/cgroup", "0::/a\n").folder("sys/fs/cgroup/a/memory.max");
    EXPECT_EQ(room().bytes, 0u);
}

TEST_F(MemoryRoomTest, NothingKnownIsNoLimit) {
    EXPECT_EQ(room().bytes, UINT64_MAX);
    EXPECT_EQ(room().limited_by, "");
}

} // namespace
