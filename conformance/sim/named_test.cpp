// SPDX-License-Identifier: Apache-2.0
// Named regions, options, and what the device says of itself.
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/sim/testing.hpp"

namespace hbf::sim {
namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/hbf-sim-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
};

TEST(SimNamed, RegionsOutliveTheDevice) {
    const Folder folder;
    const OptionList options = {{"sim.persist", folder.path}};
    const std::vector<std::byte> bytes(5000, std::byte{42});
    {
        Device device(options);
        hbf_region_info region{};
        ASSERT_EQ(device->alloc(cold, 5000, region, 0, "kept").status, HBF_OK);
        ByteAccess access(device.instance());
        access.write(region, 0, bytes);
        hbf_region_info again{};
        EXPECT_EQ(device->alloc(cold, 5000, again, 0, "kept").status, HBF_INVALID);
        EXPECT_EQ(device->alloc(cold, 5000, again, 0, "kept", HBF_ALLOC_OPEN_EXISTING).status, HBF_BUSY);
    }
    struct stat info{};
    ASSERT_EQ(::stat((folder.path + "/kept").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
    Device device(options);
    hbf_region_info region{};
    EXPECT_EQ(device->alloc(cold, 50'000, region, 0, "kept", HBF_ALLOC_OPEN_EXISTING).status, HBF_DATA_LOSS);
    EXPECT_EQ(device->alloc(cold, 5000, region, 0, "none", HBF_ALLOC_OPEN_EXISTING).status, HBF_UNAVAILABLE);
    ASSERT_EQ(device->alloc(cold, 5000, region, 0, "kept", HBF_ALLOC_OPEN_EXISTING).status, HBF_OK);
    ByteAccess access(device.instance());
    EXPECT_EQ(access.read(region, 0, 5000), bytes);
}

TEST(SimNamed, AnUnfinishedOneIsNotThere) {
    const Folder folder;
    // What a writer that died leaves behind: no name, no lock.
    const int fd = ::open((folder.path + "/.half.new").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::ftruncate(fd, 5000), 0);
    ::close(fd);
    Device device(OptionList{{"sim.persist", folder.path}});
    hbf_region_info region{};
    EXPECT_EQ(device->alloc(cold, 1, region, 0, "half", HBF_ALLOC_OPEN_EXISTING).status, HBF_UNAVAILABLE);
    ASSERT_EQ(device->alloc(cold, 3000, region, 0, "half").status, HBF_OK);
    EXPECT_NE(::access((folder.path + "/half").c_str(), F_OK), 0);
    device->must_free(region.region);
    EXPECT_EQ(device->alloc(cold, 3000, region, 0, "half", HBF_ALLOC_OPEN_EXISTING).status, HBF_OK);
}

TEST(SimNamed, ALinkIsNotFollowed) {
    const Folder folder;
    ASSERT_EQ(::symlink("/etc/hostname", (folder.path + "/link").c_str()), 0);
    Device device(OptionList{{"sim.persist", folder.path}});
    hbf_region_info region{};
    EXPECT_EQ(device->alloc(cold, 1, region, 0, "link", HBF_ALLOC_OPEN_EXISTING).status, HBF_INVALID);
    EXPECT_EQ(device->alloc(cold, 1, region, 0, "link").status, HBF_INVALID);
}

TEST(SimNamed, WithoutAFolderThereAreNone) {
    Device device;
    hbf_region_info region{};
    const Call call = device->alloc(cold, 4096, region, 0, "kept");
    EXPECT_EQ(call.status, HBF_UNSUPPORTED);
    EXPECT_NE(call.message.find("sim.persist"), std::string::npos);
    EXPECT_EQ(device->tier(cold).flags & HBF_TIER_FLAG_PERSISTENT, 0u);
}

TEST(SimOptions, BadOnesAreRefusedByName) {
    const OptionList bad = {{"sim.sed", "1"},     {"sim.seed", "x"},       {"sim.seed", ""},
                            {"sim.engines", "9"}, {"sim.vram", "1.5MB"},   {"sim.cold", "9TiB"},
                            {"sim.hbf", "0"},     {"sim.persist", "here"}, {"sim.fail", "-1"}};
    for (const auto &option : bad) {
        Device device;
        hbf_instance *handle = nullptr;
        const Call call = device.create(handle, {option});
        EXPECT_EQ(call.status, HBF_INVALID) << option.first << '=' << option.second;
        EXPECT_NE(call.message.find(option.first), std::string::npos) << call.message;
    }
}

TEST(SimFacts, EverythingSaysEmulated) {
    Device device;
    EXPECT_EQ(device.must_probe().reality, HBF_REALITY_EMULATED);
    ASSERT_EQ(device->tiers().size(), 3u);
    for (const hbf_tier_info &tier : device->tiers()) EXPECT_EQ(tier.reality, HBF_REALITY_EMULATED) << tier.name;
    EXPECT_EQ(device->domain_of(vram)->protocol, HBF_PROTOCOL_SOFTWARE);
    EXPECT_EQ(device->domain_of(coherent)->protocol, HBF_PROTOCOL_HARDWARE);
    EXPECT_EQ(device->domain_of(cold), nullptr);
}

TEST(SimFacts, AnUncorrectableErrorFailsTheCopyAndIsCounted) {
    Device device(OptionList{{"sim.fail", "2"}});
    const auto uncorrected = [&] {
        for (const hbf_reading &reading : device->must_read_health())
            if (reading.name == std::string_view("sim.ecc.uncorrected")) return reading.value;
        return UINT64_MAX;
    };
    const auto src = device->must_alloc(coherent, 4096), dst = device->must_alloc(vram, 4096);
    const Queue queue(device.instance());
    device->must_run(queue, {copy_command(dst.region, 0, src.region, 0, 64)});
    EXPECT_EQ(uncorrected(), 0u);
    const uint64_t failed = device->must_submit(queue, {copy_command(dst.region, 0, src.region, 100, 200)});
    const uint64_t after = device->must_submit(queue, {fill_command(dst.region, 0, 8, 1, 1)});
    ASSERT_EQ(device->wait(queue, after).status, HBF_OK);
    EXPECT_EQ(uncorrected(), 1u);
    const hbf_progress progress = device->poll(queue);
    EXPECT_EQ(progress.completed, after);
    EXPECT_EQ(progress.failed, failed);
    EXPECT_EQ(progress.status, HBF_DATA_LOSS);
    const Call why = device->failure(queue);
    EXPECT_EQ(why.region, src.region);
    EXPECT_EQ(why.offset, 200u);
}

} // namespace
} // namespace hbf::sim
