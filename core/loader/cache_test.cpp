// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loader/cache.hpp"
#include "core/loader/hostile/scene.hpp"
#include "core/loader/probe_key.hpp"
#include "core/loader/probe_record.hpp"

namespace hbf::loader {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

// Points the cache at a folder of the test.
class Cache : public testing::Test {
protected:
    Cache() {
        setenv("XDG_CACHE_HOME", (scene.top() / "cache").c_str(), 1);
        record.reason = Reason::selected;
        record.devices.emplace_back();
        record.devices[0].id = "device0";
        record.devices[0].tiers.emplace_back();
        record.devices[0].tiers[0].capacity = UINT64_MAX;
        record.devices[0].tiers[0].domain = 3;
        record.devices[0].kernels = {"copy/1"};
    }
    ~Cache() override { unsetenv("XDG_CACHE_HOME"); }

    std::vector<fs::path> files() const {
        std::vector<fs::path> out;
        for (const auto &entry : fs::directory_iterator(folder())) out.push_back(entry.path());
        return out;
    }
    fs::path folder() const { return scene.top() / "cache/hbf/probe"; }

    Scene scene;
    std::vector<std::string> notes;
    ProbeRecord record;
};

mode_t mode_of(const fs::path &path) {
    struct stat facts = {};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

// Whatever a plugin's table or its process puts into an answer: nothing in it can steer a terminal or grow without end.
TEST(ProbeRecordText, IsMadeFitToBeShown) {
    ProbeRecord record;
    record.reason = Reason::selected;
    record.version = "1.0\x1b[31m\nHBF ready: fake";
    record.vendor = std::string(100000, 'v');
    record.description = "d\x07";
    record.notes.assign(5000, "n\x1b");
    record.devices.emplace_back();
    record.devices[0].name = "\x1b]0;title\x07";
    record.devices[0].tiers.emplace_back();
    record.devices[0].tiers[0].detail = "\x1b[2J";
    record.devices[0].kernels = {"copy\x1b[2J"};
    for (const auto &got : {decode_record(encode(record)), decode_cached("key", encode_cached("key", record))}) {
        ASSERT_TRUE(got);
        EXPECT_EQ(got->version, "1.0\\x1b[31m HBF ready: fake");
        EXPECT_LT(got->vendor.size(), 2000u);
        EXPECT_EQ(got->description, "d\\x07");
        EXPECT_LT(got->notes.size(), 50u);
        EXPECT_EQ(got->notes[0], "n\\x1b");
        EXPECT_EQ(got->devices[0].name, "\\x1b]0;title\\x07");
        EXPECT_EQ(got->devices[0].tiers[0].detail, "\\x1b[2J");
        EXPECT_EQ(got->devices[0].kernels, std::vector<std::string>{"copy\\x1b[2J"});
    }
}

TEST_F(Cache, KeepsWhatItIsGiven) {
    const ProbeCache cache = ProbeCache::open(notes);
    EXPECT_TRUE(notes.empty());
    EXPECT_FALSE(cache.find("key"));
    cache.store("key", record);
    const auto found = ProbeCache::open(notes).find("key");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->devices[0].id, "device0");
    EXPECT_EQ(found->devices[0].tiers[0].capacity, UINT64_MAX);
    EXPECT_EQ(found->devices[0].tiers[0].domain, 3u);
    EXPECT_EQ(found->devices[0].kernels, std::vector<std::string>{"copy/1"});
    EXPECT_FALSE(cache.find("another key"));
    EXPECT_EQ(mode_of(folder()), 0700u);
    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(mode_of(files()[0]), 0600u);
}

TEST_F(Cache, OnlyCleanAnswersAreKept) {
    const ProbeCache cache = ProbeCache::open(notes);
    for (int i = 0; i <= static_cast<int>(Reason::duplicate_name); ++i) {
        record.reason = static_cast<Reason>(i);
        cache.store(std::to_string(i), record);
        const bool kept = record.reason == Reason::selected || record.reason == Reason::no_device ||
                          record.reason == Reason::driver_absent;
        EXPECT_EQ(cache.find(std::to_string(i)).has_value(), kept) << to_string(record.reason);
    }
}

TEST_F(Cache, AnAnswerWithAWarningIsNotKept) {
    const ProbeCache cache = ProbeCache::open(notes);
    record.notes = {"no storage tier: the folder is in use"};
    cache.store("key", record);
    EXPECT_FALSE(cache.find("key"));
}

TEST_F(Cache, ABrokenFileIsAMissAndIsReplaced) {
    const ProbeCache cache = ProbeCache::open(notes);
    cache.store("key", record);
    const fs::path file = files().at(0);
    const std::string good = hostile::read_bytes(file);
    std::string other_key = good;
    other_key.replace(other_key.find("\"key\":\"key\""), 11, "\"key\":\"kex\"");
    for (const std::string &broken : {std::string(), std::string("{"), good.substr(0, good.size() / 2), std::string("null"),
                                      std::string("[1]"), std::string(300, '['), std::string("\xff\xfe"), other_key,
                                      std::string("{\"format\":1,\"key\":\"key\",\"record\":{}}")}) {
        hostile::write_bytes(file, broken);
        EXPECT_FALSE(cache.find("key")) << broken.substr(0, 40);
        cache.store("key", record);
        EXPECT_TRUE(cache.find("key")) << "after " << broken.substr(0, 40);
    }
    EXPECT_EQ(files().size(), 1u) << "nothing is left behind";
}

TEST_F(Cache, AFileThatOthersCouldWriteIsAMiss) {
    const ProbeCache cache = ProbeCache::open(notes);
    cache.store("key", record);
    chmod(files().at(0).c_str(), 0666);
    EXPECT_FALSE(cache.find("key"));
}

TEST_F(Cache, AnUnsafeFolderIsNotUsedAndSaid) {
    chmod(scene.folder("cache/hbf/probe").c_str(), 0777);
    const ProbeCache cache = ProbeCache::open(notes);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("not this user's alone"), std::string::npos);
    cache.store("key", record);
    EXPECT_TRUE(files().empty());
}

TEST_F(Cache, ALinkInsteadOfTheFolderIsNotFollowed) {
    fs::create_directories(scene.top() / "cache");
    fs::create_directory_symlink(scene.folder("elsewhere"), scene.top() / "cache/hbf");
    ProbeCache::open(notes);
    EXPECT_EQ(notes.size(), 1u);
    EXPECT_TRUE(fs::is_empty(scene.top() / "elsewhere"));
}

TEST_F(Cache, OldFilesGoOnceThereAreMany) {
    const ProbeCache cache = ProbeCache::open(notes);
    for (int i = 0; i < 300; ++i) cache.store(std::to_string(i), record);
    EXPECT_LE(files().size(), 256u);
}

// Every input changes the key; the same inputs give the same key.
class Key : public testing::Test {
protected:
    Key() {
        inventory.root = scene.top();
        inventory.boot_id = "boot";
        inventory.pci.emplace_back();
        inventory.pci[0].address = "0000:01:00.0";
        inventory.settings["memlock"].value = "8192";
        inventory.settings["mem_available"].value = "1";
        manifest.name = "acme";
        manifest.driver_files = {"/lib/libacme.so.1", "/sys/module/acme/version"};
        manifest.nodes = {"/dev/acme0"};
        job.request.plugin_file = "/x/acme.so";
        job.environment = {"PATH=/bin"};
        driver = scene.folder("lib") / "libacme.so.1.0";
        hostile::write_bytes(driver, "driver one");
        fs::create_symlink("libacme.so.1.0", scene.top() / "lib/libacme.so.1");
        version = scene.folder("sys/module/acme") / "version";
        hostile::write_bytes(version, "1.0\n");
        hostile::write_bytes(scene.folder("dev") / "acme0", "");
    }
    std::string key() const { return machine_key(inventory) + plugin_key(manifest, job, hash, inventory.root); }

    Scene scene;
    Inventory inventory;
    Manifest manifest;
    ProbeJob job;
    std::string hash = "aa";
    fs::path driver, version;
};

TEST_F(Key, IsStable) {
    const std::string first = key();
    EXPECT_EQ(key(), first);
    inventory.settings["mem_available"].value = "2"; // differs from moment to moment
    hostile::write_bytes(version, "1.0\n");          // as sysfs files do: a new time, the same words
    EXPECT_EQ(key(), first);
}

#define EXPECT_KEY_CHANGES(change)                                                                                          \
    do {                                                                                                                    \
        const std::string before = key();                                                                                   \
        change;                                                                                                             \
        EXPECT_NE(key(), before) << "unchanged by " #change;                                                                \
    } while (false)

TEST_F(Key, EveryInputCounts) {
    EXPECT_KEY_CHANGES(hash = "bb");
    EXPECT_KEY_CHANGES(inventory.boot_id = "another");
    EXPECT_KEY_CHANGES(inventory.pci[0].device = 7);
    EXPECT_KEY_CHANGES(inventory.pci[0].driver = "acme");
    EXPECT_KEY_CHANGES(inventory.pci.emplace_back());
    EXPECT_KEY_CHANGES(inventory.settings["memlock"].value = "16384");
    EXPECT_KEY_CHANGES(inventory.kernel = "6.9");
    EXPECT_KEY_CHANGES(job.request.options.emplace_back("storage_path", "/x"));
    EXPECT_KEY_CHANGES(job.environment.emplace_back("ACME_DEVICES=1"));
    EXPECT_KEY_CHANGES(job.request.plugin_file = "/y/acme.so");
    EXPECT_KEY_CHANGES(manifest.emulation = true);
    EXPECT_KEY_CHANGES(hostile::write_bytes(driver, "driver two!"));
    EXPECT_KEY_CHANGES(hostile::write_bytes(version, "2.0\n"));
    EXPECT_KEY_CHANGES(chmod((scene.top() / "dev/acme0").c_str(), 0600));
    EXPECT_KEY_CHANGES(fs::remove(scene.top() / "dev/acme0"));
    EXPECT_KEY_CHANGES(hostile::write_bytes(scene.folder("etc") / "ld.so.cache", "new library"));
    EXPECT_KEY_CHANGES((fs::rename(driver, scene.top() / "lib/libacme.so.2.0"), fs::remove(scene.top() / "lib/libacme.so.1"),
                        fs::create_symlink("libacme.so.2.0", scene.top() / "lib/libacme.so.1")));
}

TEST_F(Key, LibrariesAreFoundByNameToo) {
    manifest.driver_files = {"libbyname.so*"};
    scene.folder("usr/lib");
    EXPECT_KEY_CHANGES(hostile::write_bytes(scene.top() / "usr/lib/libbyname.so.3", "x"));
}

} // namespace
} // namespace hbf::loader
