// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "core/loader/trust.hpp"
#include "core/loader/writers.hpp"

namespace hbf::loader {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

constexpr uint32_t stranger = 54321;

fs::path file_in(const fs::path &folder, mode_t mode = 0644, const char *name = "file") {
    hostile::write_bytes(folder / name, "content");
    chmod((folder / name).c_str(), mode);
    return folder / name;
}

std::string objection(const fs::path &path, const Yardstick *yardstick = nullptr) {
    const auto walk = walk_to(path);
    if (!walk) return "error: " + walk.error().message;
    return first_objection(*walk, yardstick).value_or("");
}

// Whether the folder for temporary files is itself safe; every expectation of "trusted" hangs on it.
#define NEED_A_SAFE_TMP(scene)                                                                                              \
    if (const std::string unsafe = objection(file_in((scene).folder("check"))); !unsafe.empty())                            \
    GTEST_SKIP() << "the folder for temporary files is not safe: " << unsafe

TEST(Trust, OwnFilesBelowAStickyFolderAreTrusted) {
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    const fs::path sticky = scene.folder("sticky", 01777);
    EXPECT_EQ(objection(file_in(scene.folder("sticky/mine"))), "");
    EXPECT_NE(objection(file_in(sticky)), "") << "a file right in a sticky folder has strangers beside it";
}

TEST(Trust, WhatEveryoneCanWriteIsNot) {
    Scene scene;
    const fs::path open = scene.folder("open", 0777), below = scene.folder("open/below/deeper");
    EXPECT_NE(objection(file_in(open))
                  .find((scene.top() / "open").string() + ": writable by everyone (mode 0777); remedy: chmod o-w"),
              std::string::npos);
    EXPECT_NE(objection(file_in(below)).find("open: writable by everyone"), std::string::npos);
    EXPECT_NE(objection(file_in(scene.folder("safe"), 0666)).find("file: writable by everyone (mode 0666)"),
              std::string::npos);
}

TEST(Trust, LinksAreFollowedAndBothEndsCount) {
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    const fs::path safe = scene.folder("safe"), open = scene.folder("open", 0777);
    const fs::path target = file_in(safe), bad = file_in(open);
    fs::create_symlink(bad, safe / "to_bad");
    fs::create_symlink(target, open / "to_good");
    fs::create_symlink("file", safe / "near");
    fs::create_directory_symlink(open, safe / "folder");
    fs::create_symlink("../open/../safe/file", safe / "winding");
    EXPECT_NE(objection(safe / "to_bad"), "") << "the target lies in an open folder";
    EXPECT_NE(objection(open / "to_good"), "") << "the link itself can be replaced";
    EXPECT_NE(objection(safe / "folder" / "file"), "");
    EXPECT_EQ(objection(safe / "winding"), "") << "nothing in the open folder decides where its .. leads";
    EXPECT_EQ(objection(safe / "near"), "");
    EXPECT_EQ(walk_to(safe / "near")->real, safe / "file");
}

TEST(Trust, WhatIsNoFileIsAnError) {
    Scene scene;
    const fs::path folder = scene.folder("folder");
    fs::create_symlink("loop_b", folder / "loop_a");
    fs::create_symlink("loop_a", folder / "loop_b");
    fs::create_symlink("nowhere", folder / "dangling");
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    for (const fs::path &path : {folder, folder / "loop_a", folder / "dangling", folder / "pipe", folder / "missing",
                                 fs::path("relative"), file_in(folder) / "below_a_file"}) {
        EXPECT_FALSE(walk_to(path)) << path;
    }
}

TEST(Trust, TheInstallationIsHeldToItsOwnMeasure) {
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    const fs::path program = file_in(scene.folder("installed/bin", 0777)),
                   plugin = file_in(scene.folder("installed/plugins", 0777));
    const fs::path strict_program = file_in(scene.folder("strict"));
    const Yardstick same = Yardstick::of({program}), strict = Yardstick::of({strict_program}),
                    gone = Yardstick::of({scene.top() / "deleted"});
    EXPECT_NE(objection(plugin), "");
    EXPECT_EQ(objection(plugin, &same), "") << "whoever could change the plugin could change the program";
    EXPECT_NE(objection(plugin, &strict), "");
    EXPECT_NE(objection(plugin, &gone), "");
}

TEST(Trust, OtherOwnersAndGroups) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    const fs::path foreign = file_in(scene.folder("foreign"));
    ASSERT_EQ(chown(foreign.c_str(), stranger, 0), 0);
    EXPECT_NE(objection(foreign).find("owned by user 54321"), std::string::npos);
    const fs::path shared = file_in(scene.folder("shared"), 0664);
    ASSERT_EQ(chown(shared.c_str(), 0, stranger), 0);
    EXPECT_NE(objection(shared).find("writable by group 54321"), std::string::npos);

    const fs::path theirs = scene.folder("sticky_of_theirs", 01777), mine = scene.folder("sticky_of_theirs/mine");
    ASSERT_EQ(chown(theirs.c_str(), stranger, 0), 0);
    EXPECT_NE(objection(file_in(mine)), "") << "a sticky folder's owner can rename what is in it";

    // The program belongs to that user too (a checkout run with sudo): no stricter than that.
    const fs::path program = file_in(scene.folder("program"));
    ASSERT_EQ(chown(program.c_str(), stranger, 0), 0);
    const Yardstick yardstick = Yardstick::of({program});
    EXPECT_EQ(objection(foreign, &yardstick), "");
    EXPECT_NE(objection(shared, &yardstick), "") << "a group's members are not that user";
}

TEST(Trust, APrivateGroupMayWrite) {
    if (!is_private_group(getegid())) GTEST_SKIP() << "this user's group has other members or another name";
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    EXPECT_EQ(objection(file_in(scene.folder("group", 0775), 0664)), "");
}

std::string acl(std::initializer_list<AclEntry> entries) {
    std::string bytes("\2\0\0\0", 4);
    for (const AclEntry &entry : entries) {
        for (const uint32_t half : {uint32_t{entry.tag}, uint32_t{entry.permissions}})
            bytes += {static_cast<char>(half), static_cast<char>(half >> 8)};
        for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(entry.id >> shift);
    }
    return bytes;
}

TEST(Trust, AclEntriesCount) {
    Scene scene;
    NEED_A_SAFE_TMP(scene);
    const fs::path file = file_in(scene.folder("acl"));
    const auto set = [&](uint16_t permissions, uint16_t mask) {
        const std::string bytes = acl({{1, 6, UINT32_MAX},
                                       {2, permissions, stranger},
                                       {4, 4, UINT32_MAX},
                                       {16, mask, UINT32_MAX},
                                       {32, 4, UINT32_MAX}});
        return setxattr(file.c_str(), "system.posix_acl_access", bytes.data(), bytes.size(), 0) == 0;
    };
    if (!set(6, 6)) GTEST_SKIP() << "this file system has no ACLs";
    EXPECT_NE(objection(file).find("an ACL entry lets user 54321 write"), std::string::npos) << objection(file);
    ASSERT_TRUE(set(6, 4));
    EXPECT_EQ(objection(file), "") << "the mask takes the right to write away";
    ASSERT_TRUE(set(4, 6));
    EXPECT_EQ(objection(file), "");
}

TEST(Trust, AclParserTakesNothingBroken) {
    const std::string good = acl({{2, 6, stranger}});
    const auto parse = [](const std::string &bytes) {
        std::vector<AclEntry> out;
        return parse_acl({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}, out);
    };
    EXPECT_TRUE(parse(good));
    for (size_t length = 0; length < good.size(); ++length) {
        EXPECT_EQ(parse(good.substr(0, length)), length == 4) << length; // a header alone is a whole list
    }
    EXPECT_FALSE(parse("\3" + good.substr(1)));
}

} // namespace
} // namespace hbf::loader
