// SPDX-License-Identifier: Apache-2.0
// Blocks in memory of every OpenCL device of this machine, through the plugin as it ships: attended there by the kernel that
// the driver compiled, with the bits of blocks in memory.
#include <filesystem>

#include <dlfcn.h>

#include "core/engine/attention/device_place.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/testing/sequence.hpp"
#include "hbf/abi/plugin.h"

namespace hbf::kv {
namespace {

using testing::Blocks;
using testing::must;

// As it lies in the build folder that this test is of; nullptr: it was not built.
const hbf_plugin *opencl_plugin() {
    const auto file =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../../plugins/opencl/hbf_plugin_opencl.so";
    void *const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return nullptr;
    const auto query = reinterpret_cast<hbf_plugin_query_fn>(dlsym(library, HBF_PLUGIN_QUERY_SYMBOL));
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    return query ? query(HBF_ABI_VERSION, &host) : nullptr;
}

TEST(OpenClPlaceTest, HasTheBitsOfMemory) {
    const hbf_plugin *const plugin = opencl_plugin();
    if (plugin == nullptr) GTEST_SKIP() << "the OpenCL plugin is not built here";
    DeviceOptions options;
    options.litmus = false;
    auto opened = Device::open(plugin, options);
    if (!opened) GTEST_SKIP() << "no OpenCL device here: " << opened.error().message;
    Device &device = *opened;
    std::mt19937_64 random(1);
    testing::Sequence sequence(8, 2, 64, HBF_ELEMENT_FP16);
    sequence.append_random(777, random);
    const auto query = testing::random_query(sequence.shape, 2, random);
    const Blocks blocks = sequence.blocks(64);
    ExactAttention attention;
    std::vector<float> expected(query.size()), output(query.size());
    MemoryPlace memory(blocks.bytes.data(), blocks.bytes.size());
    AttendPlace *const here[] = {&memory};
    must(attention.attend(blocks.shape, here, blocks.list, query.data(), 2, expected.data()));

    const uint64_t size = (blocks.bytes.size() + 65535) / 65536 * 65536;
    auto upload = must(HostMemory::take(size));
    std::memcpy(upload.bytes().data(), blocks.bytes.data(), blocks.bytes.size());
    const auto from = must(device.register_host(upload.bytes()));
    uint32_t tier = 0;
    while (tier < device.tiers().size() && !device.tiers()[tier].device_access) ++tier;
    ASSERT_LT(tier, device.tiers().size());
    const auto region = must(device.allocate(tier, size));
    Queue queue = must(device.create_queue());
    Batch batch;
    batch.copy(region.region, 0, from.region, 0, size);
    must(queue.wait(must(queue.submit(batch)).value));

    const auto place = DevicePlace::open(device, region.region, {5, 1 << 20, 8, 32});
    if (!place && place.error().code == Code::unsupported) GTEST_SKIP() << place.error().message;
    ASSERT_TRUE(place) << place.error().message;
    AttendPlace *const there[] = {place->get()};
    for (int round = 0; round < 3; ++round) {
        must(attention.attend(blocks.shape, there, blocks.list, query.data(), 2, output.data()));
        if (kernels::attention_is_fused()) {
            ASSERT_EQ(output, expected) << device.name();
        } else {
            for (size_t i = 0; i < output.size(); ++i) ASSERT_NEAR(output[i], expected[i], 1e-5) << device.name();
        }
    }
    EXPECT_GE((*place)->work().blocks, 3 * 12u);
    queue = Queue();
    must(device.free(from.region));
}

} // namespace
} // namespace hbf::kv
