// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Coherence : public FabricTest {};

TEST_F(Coherence, HardwareDomainsGetNoOperations) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(dram, granule)), b = must(device.allocate(dram, granule));
    must(queue.wait(must(queue.submit(copy(b, a, granule))).value));
    EXPECT_EQ(script.flushes + script.invalidates + script.waits, 0u);
}

TEST_F(Coherence, SoftwareDomainsAreFlushedBeforeAndInvalidatedAfter) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(soft, granule)), b = must(device.allocate(soft, granule)),
                     v = must(device.allocate(vram, granule));
    write(a, 0, granule, 2);
    must(queue.wait(must(queue.submit(copy(b, a, granule))).value));
    EXPECT_TRUE(same(a, b, granule)) << "the CPU stored, the engine moved, the CPU loads";
    EXPECT_EQ(script.flushes, 2u);
    EXPECT_EQ(script.invalidates, 1u);
    must(queue.wait(must(queue.submit(copy(v, a, granule))).value));
    EXPECT_EQ(script.flushes, 3u);
    EXPECT_EQ(script.invalidates, 1u) << "nothing to invalidate where no CPU looks";
    Batch fill;
    fill.fill(b.region, 0, 64, 0x31, 1);
    must(queue.wait(must(queue.submit(fill)).value));
    EXPECT_EQ(b.address[0], std::byte{0x31});
}

TEST_F(Coherence, DirtyNeighboursAreNotLost) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(soft, granule)), b = must(device.allocate(soft, granule));
    b.address[granule - 1] = std::byte{77}; // a store of the CPU's beside what the engine will write
    write(a, 0, 64, 2);
    must(queue.wait(must(queue.submit(copy(b, a, 64))).value));
    EXPECT_EQ(b.address[granule - 1], std::byte{77});
    EXPECT_TRUE(same(a, b, 64));
}

TEST_F(Coherence, ExplicitOperationsReachTheDevice) {
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(soft, granule));
    Batch batch;
    batch.flush(a.region, 0, 64).barrier().invalidate(a.region, 0, 64);
    must(queue.wait(must(queue.submit(batch)).value));
    EXPECT_EQ(script.flushes, 1u);
    EXPECT_EQ(script.invalidates, 1u);
}

TEST_F(Coherence, MoreOperationsThanABatchHoldsAreSentInPieces) {
    script.max_commands = 16;
    Device device = open();
    Queue queue = must(device.create_queue());
    const RegionInfo a = must(device.allocate(soft, granule)), b = must(device.allocate(soft, granule));
    write(a, 0, granule, 6);
    Batch batch;
    for (uint64_t i = 0; i < 16; ++i) batch.copy(b.region, i * 4096, a.region, i * 4096, 4096);
    must(queue.wait(must(queue.submit(batch)).value));
    EXPECT_TRUE(same(a, b, granule));
}

TEST_F(Coherence, TheLitmusSaysWhatItSawAndHowLongItTook) {
    Device device = open("a", true);
    ASSERT_EQ(device.litmus().size(), 2u);
    EXPECT_EQ(device.litmus()[0].domain, "coherent");
    EXPECT_EQ(device.litmus()[0].observed, "hardware");
    EXPECT_EQ(device.litmus()[1].observed, "software");
    for (const LitmusReport &report : device.litmus()) {
        EXPECT_GT(report.trials, 0u);
        EXPECT_GT(report.milliseconds, 0.0);
    }
    EXPECT_EQ(script.live_regions, 0u) << "it leaves nothing behind";
    EXPECT_EQ(script.live_queues, 0u);
}

TEST_F(Coherence, AFalseDeclarationIsRefused) {
    script.lies = true;
    const auto device = Device::open(fake_plugin(), [] {
        DeviceOptions options = fake_options("a", true);
        options.plugin_sha256 = "a library that lies"; // not the one whose result is known already
        return options;
    }());
    ASSERT_EQ(code_of(device), Code::data_loss);
    EXPECT_TRUE(contains(device.error().message, "'coherent' is declared hardware")) << device.error().message;
    EXPECT_TRUE(contains(device.error().message, "observed: software"));
    EXPECT_EQ(script.live_instances, 0u);
    EXPECT_EQ(script.live_regions, 0u);
}

TEST_F(Coherence, NothingToObserveIsSaidNotPassed) {
    script.vram_only = true;
    const auto device = Device::open(fake_plugin(), [] {
        DeviceOptions options = fake_options("a", true);
        options.plugin_sha256 = "a library without CPU access";
        return options;
    }());
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_TRUE(contains(device->litmus()[0].observed, "not observable")) << device->litmus()[0].observed;
    EXPECT_EQ(device->litmus()[0].trials, 0u);
}

class LitmusCacheTest : public FabricTest {
protected:
    std::filesystem::path home = std::filesystem::temp_directory_path() / ("hbf-litmus-" + std::to_string(getpid()));
    std::filesystem::path file = home / "hbf" / "litmus";
    void SetUp() override {
        std::filesystem::create_directories(home);
        setenv("XDG_CACHE_HOME", home.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("XDG_CACHE_HOME");
        std::filesystem::remove_all(home);
    }
    LitmusReport opened(const std::string &sha256, const std::string &boot, const std::string &driver = "1") {
        DeviceOptions options = fake_options("a", true);
        options.plugin_sha256 = sha256;
        options.boot_id = boot;
        options.probed = ProbedDevice{};
        options.probed->id = "a";
        options.probed->driver = driver;
        return must(Device::open(fake_plugin(), options)).litmus()[0];
    }
    std::string text() const {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(LitmusCacheTest, IsKeyedByLibraryDriverAndBoot) {
    EXPECT_FALSE(opened("s1", "b1").cached);
    EXPECT_TRUE(opened("s1", "b1").cached);
    EXPECT_FALSE(opened("s2", "b1").cached);
    EXPECT_FALSE(opened("s1", "b2").cached);
    EXPECT_FALSE(opened("s1", "b1", "2").cached);
    EXPECT_TRUE(contains(text(), "s1|1|b1"));
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1) << "no half-written file";
}

TEST_F(LitmusCacheTest, IsReadFromTheFileAndABadFileIsNoResult) {
    std::filesystem::create_directories(file.parent_path());
    const std::string key = "f1|1|b1|fake:a coherent hardware";
    const auto put = [&](const std::string &line) {
        std::ofstream(file) << line;
        std::filesystem::permissions(file, std::filesystem::perms(0600));
    };
    put(key + "\tcoherent\thardware\t5\t1.5\n");
    const LitmusReport known = opened("f1", "b1");
    EXPECT_TRUE(known.cached);
    EXPECT_EQ(known.trials, 5u);
    for (const std::string bad :
         {"\tcoherent\thardware\t0\t1\n", "\tcoherent\tperfect\t5\t1\n", "\tcoherent\n", "\t\t\t\t\n", ""}) {
        static int n = 0;
        const std::string sha = "bad" + std::to_string(n++);
        put(sha + "|1|b1|fake:a coherent hardware" + bad);
        EXPECT_FALSE(opened(sha, "b1").cached) << bad;
    }
    put("w1|1|b1|fake:a coherent hardware\tcoherent\thardware\t5\t1.5\n");
    std::filesystem::permissions(file, std::filesystem::perms(0666));
    EXPECT_FALSE(opened("w1", "b1").cached) << "others could have written it";
}

} // namespace
} // namespace hbf::testing
