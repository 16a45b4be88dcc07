// SPDX-License-Identifier: Apache-2.0
// The tier as a user meets it, on the disk under the build folder.
#include <cstring>
#include <filesystem>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "direct_probe.hpp"
#include "storage_fixture.hpp"
#include "storage_tier.hpp"

namespace hbf::host {
namespace {

using namespace testing;

TEST_P(StorageTest, SaysWhatItIs) {
    auto tier = this->tier();
    hbf_tier_info info = describe(*tier);
    EXPECT_EQ(info.kind, HBF_TIER_COLD);
    EXPECT_EQ(info.media, HBF_MEDIA_FILE);
    EXPECT_EQ(info.access, HBF_ACCESS_DMA);
    EXPECT_EQ(info.capacity, 64u << 20);
    EXPECT_EQ(info.available, 64u << 20);
    EXPECT_STREQ(info.name, "storage0");
    const std::string detail = info.detail;
    if (!GetParam().uring || !GetParam().direct) {
        EXPECT_TRUE(info.flags & HBF_TIER_FLAG_DEGRADED);
        EXPECT_NE(detail.find("option"), std::string::npos) << detail;
        EXPECT_NE(log_.text().find("option"), std::string::npos) << "a fallback is never silent";
    }
    if (!(info.flags & HBF_TIER_FLAG_DEGRADED)) {
        EXPECT_EQ(log_.text(), "");
    }
    if (!GetParam().direct) {
        EXPECT_NE(detail.find("page cache in use"), std::string::npos) << detail;
    }
    EXPECT_NE(detail.find(scratch_.path()), std::string::npos) << detail;
}

TEST_P(StorageTest, UnnamedRegionsLeaveNoNameAndGiveTheirSpaceBack) {
    auto tier = this->tier();
    auto file = tier->create(10 << 20, "", false);
    if (GetParam().nameless) {
        EXPECT_TRUE(scratch_.names().empty());
    }
    EXPECT_EQ(describe(*tier).available, 54u << 20);
    file.reset();
    EXPECT_TRUE(scratch_.names().empty());
    EXPECT_EQ(describe(*tier).available, 64u << 20);
}

TEST_P(StorageTest, SpaceIsReallyTaken) {
    auto tier = this->tier();
    auto file = tier->create(5000, "", false); // rounded up to whole granules
    auto stored = describe(*tier).capacity - describe(*tier).available;
    EXPECT_EQ(stored % describe(*tier).granule, 0u);
    Fd outside = steal(stored);
    ASSERT_TRUE(outside);
    struct stat info{};
    ASSERT_EQ(::fstat(outside.get(), &info), 0);
    EXPECT_GE(static_cast<uint64_t>(info.st_blocks) * 512, stored) << "a sparse file meets a full disk later";
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_P(StorageTest, CapacityIsALimitAndEarlierRegionsStay) {
    auto tier = this->tier(16 << 20);
    auto first = tier->create(12 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(1, 0, 12 << 20);
    ASSERT_EQ(write(*channel, *first, 0, data.data(), data.size()).status, HBF_OK);
    auto full = failure_of([&] { tier->create(8 << 20, "", false); });
    EXPECT_EQ(full.status, HBF_EXHAUSTED);
    EXPECT_NE(full.message.find("8388608"), std::string::npos) << full.message;
    EXPECT_NE(full.message.find("16777216"), std::string::npos) << full.message;
    EXPECT_EQ(failure_of([&] { tier->create(UINT64_MAX, "", false); }).status, HBF_EXHAUSTED);
    EXPECT_EQ(failure_of([&] { tier->create(0, "", false); }).status, HBF_INVALID);
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *first, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
    EXPECT_EQ(describe(*tier).available, 4u << 20) << "a refused region took space";
}

TEST_P(StorageTest, FreshRegionsShowNobodysData) {
    auto tier = this->tier();
    auto channel = tier->create_channel(4);
    auto secret = pattern(9, 0, 4 << 20);
    auto first = tier->create(secret.size(), "", false);
    ASSERT_EQ(write(*channel, *first, 0, secret.data(), secret.size()).status, HBF_OK);
    first.reset();
    auto second = tier->create(secret.size(), "", false);
    std::vector<std::byte> got(secret.size(), std::byte{1});
    ASSERT_EQ(read(*channel, *second, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, std::vector<std::byte>(got.size()));
}

TEST_P(StorageTest, NothingStaysInThePageCache) {
    auto tier = this->tier();
    if (std::string(describe(*tier).detail).find("page cache in use") != std::string::npos)
        GTEST_SKIP() << "the tier says so itself: " << describe(*tier).detail;
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(2, 0, (4 << 20) - 777);
    ASSERT_EQ(write(*channel, *file, 77, data.data(), data.size()).status, HBF_OK);
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *file, 77, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
    Fd outside = steal(4 << 20);
    ASSERT_TRUE(outside);
    EXPECT_EQ(resident_pages(outside.get(), 4 << 20), 0);
}

TEST_P(StorageTest, TruncatedFileIsDataLossFromItsFirstMissingByte) {
    auto tier = this->tier();
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(3, 0, 4 << 20);
    ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
    constexpr uint64_t left = (2 << 20) + 4096 * 3;
    ASSERT_EQ(::ftruncate(steal(4 << 20).get(), left), 0);
    std::vector<std::byte> got(4 << 20);
    IoResult result = read(*channel, *file, 0, got.data(), got.size());
    EXPECT_EQ(result.status, HBF_DATA_LOSS);
    EXPECT_EQ(result.offset, left);
    EXPECT_NE(result.message.find(std::to_string(left)), std::string::npos) << result.message;
    EXPECT_EQ(read(*channel, *file, 0, got.data(), left).status, HBF_OK) << "what is left can be read";
    EXPECT_EQ(std::memcmp(got.data(), data.data(), left), 0);
}

TEST_P(StorageTest, WritesDoNotHideATruncation) {
    auto tier = this->tier();
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(3, 0, 4 << 20);
    ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
    Fd outside = steal(4 << 20);
    ASSERT_EQ(::ftruncate(outside.get(), 1 << 20), 0);
    // Taken, this write would grow the file again, and what is before it would read as zeros.
    IoResult result = write(*channel, *file, 3 << 20, data.data(), 1 << 20);
    EXPECT_EQ(result.status, HBF_DATA_LOSS) << result.message;
    EXPECT_EQ(result.offset, 3u << 20) << "the first byte of this write that is lost";
    struct stat info{};
    ASSERT_EQ(::fstat(outside.get(), &info), 0);
    EXPECT_EQ(info.st_size, 1 << 20);
    EXPECT_EQ(read(*channel, *file, 2 << 20, data.data(), 4096).status, HBF_DATA_LOSS);
}

TEST_P(StorageTest, ATruncatedFileThatGrewAgainDoesNotReadAsZeros) {
    auto tier = this->tier();
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(3, 0, 4 << 20);
    ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
    Fd outside = steal(4 << 20);
    struct statfs system{};
    ASSERT_EQ(::fstatfs(outside.get(), &system), 0);
    if (system.f_type != EXT4_SUPER_MAGIC && system.f_type != TMPFS_MAGIC)
        GTEST_SKIP() << "only where every byte has a block can a hole be told from zeros";
    ASSERT_EQ(::ftruncate(outside.get(), 1 << 20), 0);
    ASSERT_EQ(::ftruncate(outside.get(), 4 << 20), 0);
    for (uint64_t size : {4096, 4 << 20}) {
        const IoResult result = read(*channel, *file, (4 << 20) - size, data.data(), size);
        EXPECT_EQ(result.status, HBF_DATA_LOSS);
        EXPECT_NE(result.message.find(scratch_.path()), std::string::npos) << result.message;
    }
}

TEST_P(StorageTest, AFailedWriteBackIsNotForgotten) {
    auto tier = this->tier();
    auto file = tier->create(1 << 20, "blocks", false);
    // A pipe cannot be written back: in the file's place it stands for a disk that fails once.
    int number = -1, pipes[2];
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        struct stat info{};
        const bool ours = std::filesystem::is_symlink(entry.path()) &&
                          std::filesystem::read_symlink(entry.path()).string().find(scratch_.path()) == 0;
        if (ours && ::stat(entry.path().c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 1 << 20)
            number = std::stoi(entry.path().filename());
    }
    ASSERT_GE(number, 0);
    ASSERT_EQ(::pipe(pipes), 0);
    Fd kept(::dup(number));
    ASSERT_EQ(::dup2(pipes[1], number), number);
    const auto first = failure_of([&] { file->publish(); });
    ASSERT_EQ(::dup2(kept.get(), number), number);
    EXPECT_NE(first.status, HBF_OK);
    EXPECT_NE(first.message.find("cannot write back"), std::string::npos) << first.message;
    EXPECT_EQ(failure_of([&] { file->publish(); }).status, first.status) << "what was not written once is not there now";
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() + "/blocks"));
    ::close(pipes[0]);
    ::close(pipes[1]);
}

TEST_P(StorageTest, NamedRegionAppearsWholeWhenPublished) {
    auto tier = this->tier();
    auto channel = tier->create_channel(4);
    auto data = pattern(4, 0, 300000);
    {
        auto file = tier->create(300000, "blocks", false);
        ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
        EXPECT_FALSE(std::filesystem::exists(scratch_.path() + "/blocks")) << "half-written files have no name";
        EXPECT_EQ(tier->create(300000, "blocks", true), file) << "inside the process it can be shared already";
        EXPECT_EQ(failure_of([&] { tier->create(4096, "blocks", false); }).status, HBF_INVALID);
        file->publish();
        file->publish();
    }
    EXPECT_EQ(scratch_.names(), std::vector<std::string>{"blocks"});
    EXPECT_EQ(failure_of([&] { tier->create(4096, "blocks", false); }).status, HBF_INVALID) << "never replaced";
    EXPECT_EQ(failure_of([&] { tier->create(4096, "other", true); }).status, HBF_UNAVAILABLE);
    channel.reset();
    tier.reset();

    tier = this->tier(); // as another process would find it
    channel = tier->create_channel(4);
    auto file = tier->create(300000, "blocks", true);
    std::vector<std::byte> got(300000);
    ASSERT_EQ(read(*channel, *file, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
    struct stat info{};
    ASSERT_EQ(::stat((scratch_.path() + "/blocks").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
    EXPECT_EQ(describe(*tier).available, (64u << 20) - static_cast<uint64_t>(info.st_size)) << "named files count";
}

TEST_P(StorageTest, NamedRegionThatIsNeverPublishedNeverWas) {
    auto tier = this->tier();
    tier->create(300000, "blocks", false).reset();
    EXPECT_TRUE(scratch_.names().empty());
    EXPECT_EQ(describe(*tier).available, 64u << 20);
}

TEST_P(StorageTest, NamedRegionThatLostItsTailIsNotOpened) {
    {
        auto tier = this->tier();
        tier->create(1 << 20, "blocks", false)->publish();
    }
    auto tier = this->tier();
    const std::string path = scratch_.path() + "/blocks";
    ASSERT_EQ(::truncate(path.c_str(), 512 << 10), 0);
    auto shorter = failure_of([&] { tier->create(1 << 20, "blocks", true); });
    EXPECT_EQ(shorter.status, HBF_DATA_LOSS);
    EXPECT_EQ(shorter.offset, 512u << 10);
    ASSERT_EQ(::truncate(path.c_str(), 1000), 0);
    auto odd = failure_of([&] { tier->create(500, "blocks", true); });
    EXPECT_EQ(odd.status, HBF_DATA_LOSS) << "no region ends inside a granule";
    EXPECT_EQ(odd.offset, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Ways, StorageTest, storage_variants(), variant_name);

} // namespace
} // namespace hbf::host
