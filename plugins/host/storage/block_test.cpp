// SPDX-License-Identifier: Apache-2.0
// Block devices. What protects other people's data is tested on plain files too, for where no loop device can be had.
#include <cstring>

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "block_label.hpp"
#include "fd.hpp"
#include "testing.hpp"

namespace hbf::host {
namespace {

using namespace testing;

constexpr uint64_t size = 16 << 20;

Fd image(const std::string &path) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd.get(), size), 0);
    return fd;
}

TEST(BlockLabel, BlankAndOursAreFreeAllElseIsNamed) {
    ScratchDirectory scratch;
    Fd fd = image(scratch.path() + "/image");
    EXPECT_EQ(foreign_content(fd.get(), size, "image"), "");
    ASSERT_EQ(::pwrite(fd.get(), "\x53\xef", 2, 1080), 2);
    EXPECT_EQ(foreign_content(fd.get(), size, "image"), "an ext2, ext3 or ext4 file system");
    write_label(fd.get(), "image");
    EXPECT_EQ(foreign_content(fd.get(), size, "image"), "");
    ASSERT_EQ(::ftruncate(fd.get(), 0), 0);
    ASSERT_EQ(::ftruncate(fd.get(), size), 0);
    ASSERT_EQ(::pwrite(fd.get(), "x", 1, static_cast<off_t>(size - 1)), 1);
    EXPECT_EQ(foreign_content(fd.get(), size, "image"), "data") << "the end counts: RAID and GPT keep copies there";
}

class LoopDevice {
public:
    explicit LoopDevice(int backing) {
        Fd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
        const int number = control ? ::ioctl(control.get(), LOOP_CTL_GET_FREE) : -1;
        if (number < 0) return;
        const std::string path = "/dev/loop" + std::to_string(number);
        Fd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        if (!device || ::ioctl(device.get(), LOOP_SET_FD, backing) != 0) return;
        path_ = path;
    }
    ~LoopDevice() {
        if (path_.empty()) return;
        Fd device(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
        if (device) ::ioctl(device.get(), LOOP_CLR_FD, 0);
    }
    const std::string &path() const { return path_; } // "": none to be had

private:
    std::string path_;
};

TEST(BlockDevice, HoldsRegionsAndProtectsWhatIsThere) {
    ScratchDirectory scratch;
    Fd fd = image(scratch.path() + "/image");
    ASSERT_EQ(::pwrite(fd.get(), "XFSB", 4, 0), 4);
    LoopDevice loop(fd.get());
    if (loop.path().empty()) GTEST_SKIP() << "no loop device for this user";
    StorageOptions options;
    options.path = loop.path();
    auto refused = failure_of([&] { StorageTier::open(options, {}); });
    EXPECT_EQ(refused.status, HBF_PERMISSION);
    EXPECT_NE(refused.message.find("an XFS file system"), std::string::npos) << refused.message;
    char still[5] = {};
    ASSERT_EQ(::pread(fd.get(), still, 4, 0), 4);
    EXPECT_STREQ(still, "XFSB") << "refused and overwritten";

    options.overwrite = true;
    auto tier = StorageTier::open(options, {});
    EXPECT_EQ(failure_of([&] { StorageTier::open(options, {}); }).status, HBF_BUSY);
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    tier->describe(info);
    EXPECT_EQ(info.media, HBF_MEDIA_BLOCK);
    EXPECT_EQ(info.capacity, size - block_reserved);
    EXPECT_FALSE(info.flags & HBF_TIER_FLAG_PERSISTENT);
    EXPECT_EQ(failure_of([&] { tier->create(4096, "name", false); }).status, HBF_UNSUPPORTED);

    auto channel = tier->create_channel(4);
    auto first = tier->create(3 << 20, "", false), second = tier->create((3 << 20) + 1, "", false);
    auto one = pattern(1, 0, 3 << 20), two = pattern(2, 0, (3 << 20) + 1);
    ASSERT_EQ(write(*channel, *first, 0, one.data(), one.size()).status, HBF_OK);
    ASSERT_EQ(write(*channel, *second, 0, two.data(), two.size()).status, HBF_OK);
    std::vector<std::byte> got(one.size());
    ASSERT_EQ(read(*channel, *first, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, one);
    EXPECT_EQ(failure_of([&] { tier->create(10 << 20, "", false); }).status, HBF_EXHAUSTED);
    first.reset();
    first = tier->create(3 << 20, "", false); // the same place again
    ASSERT_EQ(read(*channel, *first, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, std::vector<std::byte>(got.size())) << "an earlier owner's data shows";
    got.resize(two.size());
    ASSERT_EQ(read(*channel, *second, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, two);
    channel.reset();
    first.reset();
    second.reset();
    tier.reset();

    options.overwrite = false;
    EXPECT_EQ(failure_of([&] { StorageTier::open(options, {}); }).status, HBF_OK) << "our own label is no stranger's data";
}

} // namespace
} // namespace hbf::host
