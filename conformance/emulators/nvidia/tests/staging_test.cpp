// SPDX-License-Identifier: Apache-2.0
// Without cuFile: a file on this machine's storage to the device's memory and back, by libhbf and the two plugins as they
// are shipped. The bytes go through pinned memory in two buffers, and every granule is read again where it arrived.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hbf/device.hpp"

namespace hbf {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t size = 5 * (1 << 20) + 777; // several rounds through the buffers, and a tail

const hbf_plugin *plugin_of(const char *file) {
    void *const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return ADD_FAILURE() << ::dlerror(), nullptr;
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    return reinterpret_cast<hbf_plugin_query_fn>(::dlsym(handle, "hbf_plugin_query"))(HBF_ABI_VERSION, &host);
}

class Folder {
public:
    Folder() {
        std::string name = testing::TempDir() + "hbf-staging-XXXXXX";
        if (::mkdtemp(name.data())) path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

TEST(NvidiaStaging, AFileReachesTheDeviceAndComesBackVerified) {
    const Folder folder;
    DeviceOptions of_host;
    of_host.litmus = false;
    of_host.options = {{"storage_path", folder.path()}, {"storage_bytes", "64MiB"}, {"dram_bytes", "64MiB"}};
    Device host = must(Device::open(plugin_of(HBF_HOST_PLUGIN), of_host));
    DeviceOptions of_gpu;
    of_gpu.litmus = false;
    of_gpu.options = {{"hbm_bytes", "64MiB"}, {"pinned_bytes", "64MiB"}, {"peers", "off"}};
    Device gpu = must(Device::open(plugin_of(HBF_NVIDIA_PLUGIN), of_gpu));
    ASSERT_TRUE(gpu.emulated());
    const auto storage = host.find_tier("storage0"), hbm = gpu.find_tier("hbm0"), pinned = gpu.find_tier("pinned0");
    ASSERT_TRUE(storage && hbm && pinned);
    const RegionInfo file = must(host.allocate(*storage, size)), back = must(host.allocate(*storage, size));
    const RegionInfo memory = must(host.allocate(0, size)), seen = must(host.allocate(0, size));
    const RegionInfo on_device = must(gpu.allocate(*hbm, size)), by_gpu = must(gpu.allocate(*pinned, size));
    for (uint64_t i = 0; i < size; ++i) memory.address[i] = static_cast<std::byte>(i * 13 + i / 4099);
    ASSERT_TRUE(host.written_by_cpu(memory.region, 0, size));

    Queue queue = must(gpu.create_queue()), on_host = must(host.create_queue());
    const auto run = [&](Queue &by, Region dst, Region src, Integrity integrity) {
        Batch batch;
        batch.copy(dst, 0, src, 0, size, integrity);
        return must(by.wait(must(by.submit(batch)).value));
    };
    run(on_host, file.region, memory.region, Integrity::readback);
    const Completion there = run(queue, on_device.region, file.region, Integrity::readback);
    EXPECT_EQ(there.verified_by, VerifiedBy::readback);
    EXPECT_GE(there.checked_bytes, size); // at least where they arrived: where they came from, too, if that was recorded
    run(queue, by_gpu.region, on_device.region, Integrity::none); // by the device's own engine
    EXPECT_EQ(std::memcmp(by_gpu.address, memory.address, size), 0);
    const Completion home = run(queue, back.region, on_device.region, Integrity::readback);
    EXPECT_EQ(home.verified_by, VerifiedBy::readback);
    run(on_host, seen.region, back.region, Integrity::none);
    EXPECT_EQ(std::memcmp(seen.address, memory.address, size), 0);
}

} // namespace
} // namespace hbf
