// SPDX-License-Identifier: Apache-2.0
// Our reading of this machine against hwloc's. hwloc is the judge here and not the reader in the library, because
// hwloc_topology_init opens every plugin in its folder, vendors' libraries with them (opencl, gl, cuda, ...), before any
// list of blocked components counts; only environment variables stop that, and a library must not set those.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <hwloc.h>

#include "hbf/inventory.hpp"

namespace {

class HwlocTest : public testing::Test {
protected:
    void SetUp() override {
        setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
        ASSERT_EQ(hwloc_topology_init(&topology), 0);
        // Also what a container's cpuset hides, as sysfs shows all.
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        ASSERT_EQ(hwloc_topology_load(topology), 0);
        auto read = hbf::read_inventory();
        ASSERT_TRUE(read) << read.error().message;
        inventory = std::move(*read);
    }
    void TearDown() override { hwloc_topology_destroy(topology); }

    hwloc_topology_t topology = nullptr;
    hbf::Inventory inventory;
};

TEST_F(HwlocTest, AgreesOnNumaNodes) {
    if (inventory.nodes.empty()) GTEST_SKIP() << "this kernel has no NUMA support";
    const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    ASSERT_EQ(static_cast<size_t>(count), inventory.nodes.size());
    for (int i = 0; i < count; ++i) {
        const hwloc_obj_t theirs = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
        const auto ours = std::find_if(inventory.nodes.begin(), inventory.nodes.end(), [theirs](const hbf::NumaNode &node) {
            return static_cast<unsigned>(node.id) == theirs->os_index;
        });
        ASSERT_NE(ours, inventory.nodes.end()) << theirs->os_index;
        EXPECT_EQ(ours->memory_bytes, theirs->attr->numanode.local_memory);
        for (const int cpu : ours->cpus)
            EXPECT_TRUE(hwloc_bitmap_isset(theirs->complete_cpuset, static_cast<unsigned>(cpu))) << cpu;
    }
}

TEST_F(HwlocTest, AgreesOnTheLastLevelCache) {
    if (inventory.last_level_cache_bytes == 0) GTEST_SKIP() << "this kernel shows no caches";
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0);
    uint64_t largest_level = 0, size = 0;
    for (; cache; cache = cache->parent) {
        if (!hwloc_obj_type_is_cache(cache->type) || cache->attr->cache.depth <= largest_level) continue;
        largest_level = cache->attr->cache.depth;
        size = cache->attr->cache.size;
    }
    EXPECT_EQ(inventory.last_level_cache_bytes, size);
}

} // namespace
