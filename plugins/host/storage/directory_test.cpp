// SPDX-License-Identifier: Apache-2.0
// Which directories are taken, and how files come into them.
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include "directory.hpp"
#include "testing.hpp"

namespace hbf::host {
namespace {

using namespace testing;

sdk::Failure opening(const std::string &path) {
    return failure_of([&] { Directory::open(path); });
}

TEST(Directory, WhatCannotServeIsRefusedWithItsReason) {
    ScratchDirectory scratch;
    const std::string &path = scratch.path();
    EXPECT_EQ(opening(path + "/none").status, HBF_UNAVAILABLE);
    EXPECT_NE(opening(path + "/none").message.find("mkdir"), std::string::npos);

    {
        Fd file(::open((path + "/file").c_str(), O_CREAT | O_WRONLY, 0600));
    }
    EXPECT_EQ(opening(path + "/file").status, HBF_INVALID);

    ASSERT_EQ(::mkdir((path + "/real").c_str(), 0700), 0);
    ASSERT_EQ(::symlink("real", (path + "/link").c_str()), 0);
    auto link = opening(path + "/link");
    EXPECT_EQ(link.status, HBF_PERMISSION);
    EXPECT_NE(link.message.find(path + "/real"), std::string::npos) << link.message;

    ASSERT_EQ(::chmod((path + "/real").c_str(), 0777), 0);
    auto open_to_all = opening(path + "/real");
    EXPECT_EQ(open_to_all.status, HBF_PERMISSION);
    EXPECT_NE(open_to_all.message.find("chmod"), std::string::npos) << open_to_all.message;
    ASSERT_EQ(::chmod((path + "/real").c_str(), 01777), 0);
    EXPECT_EQ(opening(path + "/real").status, HBF_PERMISSION) << "a sticky directory still lets others put files there";
    ASSERT_EQ(::chmod((path + "/real").c_str(), 0700), 0);
    EXPECT_EQ(opening(path + "/real").status, HBF_OK);
}

TEST(Directory, GroupMayWriteOnlyIfItIsTheUsersOwn) {
    ScratchDirectory scratch;
    ASSERT_EQ(::chmod(scratch.path().c_str(), 0770), 0);
    struct stat info{};
    ASSERT_EQ(::stat(scratch.path().c_str(), &info), 0);
    const bool own = info.st_gid == info.st_uid && info.st_gid != 0;
    EXPECT_EQ(opening(scratch.path()).status, own ? HBF_OK : HBF_PERMISSION);
}

TEST(Directory, OfAnotherUserIsRefused) {
    struct stat info{};
    const bool is_root = ::geteuid() == 0;
    ScratchDirectory scratch;
    if (is_root) {
        ASSERT_EQ(::chown(scratch.path().c_str(), 12345, 12345), 0);
        EXPECT_EQ(opening(scratch.path()).status, HBF_PERMISSION);
        EXPECT_NE(opening(scratch.path()).message.find("12345"), std::string::npos);
    } else {
        ASSERT_EQ(::stat("/usr", &info), 0);
        if (info.st_uid == ::geteuid()) GTEST_SKIP() << "nothing here belongs to somebody else";
        EXPECT_EQ(opening("/usr").status, HBF_PERMISSION);
    }
}

TEST(Directory, OneProcessAtATime) {
    ScratchDirectory scratch;
    auto ours = Directory::open(scratch.path());
    EXPECT_EQ(Directory::open(scratch.path()), ours) << "instances of one process share it";
    ours.reset();
    // A child that opens first holds it; this process is told who.
    int ready[2], done[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(done), 0);
    pid_t child = ::fork();
    if (child == 0) {
        char byte = opening(scratch.path()).status == HBF_OK ? 'y' : 'n';
        auto held = Directory::open(scratch.path());
        [[maybe_unused]] ssize_t ignored = ::write(ready[1], &byte, 1);
        ignored = ::read(done[0], &byte, 1);
        ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    auto refused = opening(scratch.path());
    EXPECT_EQ(refused.status, HBF_BUSY);
    EXPECT_NE(refused.message.find(std::to_string(child)), std::string::npos) << refused.message;
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(opening(scratch.path()).status, HBF_OK) << "the lock went with its holder";
    for (int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
}

TEST(Directory, InstancesThatComeAndGoAreNotInEachOthersWay) {
    ScratchDirectory scratch;
    auto come_and_go = [&] {
        for (int round = 0; round < 300; ++round)
            if (auto failure = opening(scratch.path()); failure.status != HBF_OK) {
                ADD_FAILURE() << failure.message;
                return;
            }
    };
    std::thread other(come_and_go), third(come_and_go);
    come_and_go();
    other.join();
    third.join();
}

TEST(Directory, NamesFollowTheRule) {
    for (const char *good :
         {"a", "A.b_c-9", ".hidden", "..a", "0123456789012345678901234567890123456789012345678901234567890123"})
        EXPECT_EQ(failure_of([&] { check_region_name(good); }).status, HBF_OK) << good;
    for (const char *bad : {"", ".", "..", "a/b", "/", "a b", "a\n", "\xc3\xa9", ".hbf.lock", ".hbf.tmp.1",
                            "01234567890123456789012345678901234567890123456789012345678901234"})
        EXPECT_EQ(failure_of([&] { check_region_name(bad); }).status, HBF_INVALID) << bad;
    EXPECT_EQ(failure_of([&] { check_region_name(std::string("a\0b", 3)); }).status, HBF_INVALID);
}

TEST(Directory, LeftoversOfAKilledProcessAreSwept) {
    ScratchDirectory scratch;
    {
        Fd file(::open((scratch.path() + "/.hbf.tmp.1.0").c_str(), O_CREAT | O_WRONLY, 0600));
    }
    {
        Fd file(::open((scratch.path() + "/kept").c_str(), O_CREAT | O_WRONLY, 0600));
    }
    auto directory = Directory::open(scratch.path());
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"kept"});
}

class Naming : public ::testing::TestWithParam<bool> {}; // with O_TMPFILE, and as if there were none

TEST_P(Naming, GivesTheNameOnceAndReplacesNothing) {
    ScratchDirectory scratch;
    auto directory = Directory::open(scratch.path());
    directory->nameless_files = GetParam();
    auto first = directory->create(0), second = directory->create(0);
    ASSERT_EQ(::pwrite(first.fd.get(), "first", 5, 0), 5);
    EXPECT_FALSE(directory->has("region"));
    directory->give_name(first, "region");
    EXPECT_EQ(failure_of([&] { directory->give_name(second, "region"); }).status, HBF_INVALID);
    directory->discard(second);
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"region"});
    char text[6] = {};
    Fd named = directory->open_named("region", 0);
    ASSERT_EQ(::pread(named.get(), text, 5, 0), 5);
    EXPECT_STREQ(text, "first");
}

TEST_P(Naming, ModeIs0600WhateverTheUmask) {
    ScratchDirectory scratch;
    auto directory = Directory::open(scratch.path());
    directory->nameless_files = GetParam();
    for (mode_t mask : {mode_t{0}, mode_t{0777}, mode_t{0022}}) {
        const mode_t old = ::umask(mask);
        auto file = directory->create(0);
        ::umask(old);
        struct stat info{};
        ASSERT_EQ(::fstat(file.fd.get(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777, 0600u) << "umask " << std::oct << mask;
        directory->discard(file);
    }
    EXPECT_TRUE(scratch.names().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, Naming, ::testing::Bool(),
                         [](const auto &variant) { return variant.param ? "tmpfile" : "temporary"; });

TEST(Directory, LinksAndOddFilesAreNotOpened) {
    ScratchDirectory scratch;
    auto directory = Directory::open(scratch.path());
    ASSERT_EQ(::symlink("/etc/passwd", (scratch.path() + "/link").c_str()), 0);
    ASSERT_EQ(::mkfifo((scratch.path() + "/pipe").c_str(), 0600), 0);
    ASSERT_EQ(::mkdir((scratch.path() + "/folder").c_str(), 0700), 0);
    EXPECT_EQ(failure_of([&] { directory->open_named("link", 0); }).status, HBF_PERMISSION);
    EXPECT_EQ(failure_of([&] { directory->open_named("pipe", 0); }).status, HBF_INVALID);
    EXPECT_NE(failure_of([&] { directory->open_named("folder", 0); }).status, HBF_OK);
    EXPECT_EQ(failure_of([&] { directory->open_named("none", 0); }).status, HBF_UNAVAILABLE);
}

} // namespace
} // namespace hbf::host
