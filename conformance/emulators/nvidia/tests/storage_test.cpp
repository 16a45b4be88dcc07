// SPDX-License-Identifier: Apache-2.0
// The storage tier over an emulated cuFile, and what becomes of it where there is none that serves.
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "conformance/emulators/nvidia/tests/opened.hpp"

namespace hbf::nvidia {
namespace {

using emulated::cuda::test::passes_in_child;

constexpr uint64_t size = 3 * mebibyte + 777; // more than a piece, and a tail

Options with_storage(const std::string &folder = testing::TempDir()) {
    Options options = alone();
    options.storage = folder;
    options.storage_bytes = 16 * mebibyte;
    return options;
}

class NvidiaStorage : public testing::Test {
protected:
    void SetUp() override {
        const int fd = ::open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_DIRECT, 0600);
        if (fd < 0) GTEST_SKIP() << testing::TempDir() << " takes no files without a name, or no O_DIRECT";
        ::close(fd);
    }
};

// Three tiers, and a queue that is waited for.
struct Scene : Opened {
    Scene() : Opened(with_storage()), queue(instance->create_queue({})) {}
    hbf_status run(const std::vector<hbf_command> &commands) const {
        const uint64_t value = submit(*queue, commands);
        return queue->wait(value, UINT64_MAX) ? queue->poll().status : HBF_TIMEOUT;
    }
    static hbf_command copy(hbf_region dst, uint64_t to, hbf_region src, uint64_t from, uint64_t bytes) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, to, src, from, bytes, nullptr};
        return command;
    }
    std::unique_ptr<sdk::Queue> queue;
};

unsigned char byte_of(uint64_t at) {
    return static_cast<unsigned char>(at * 7 + at / 4093 + 1);
}

TEST_F(NvidiaStorage, BytesGoThereAndBackByEveryWay) {
    passes_in_child("", [] {
        Scene scene;
        ASSERT_EQ(scene.instance->tier_count(), 3u) << scene.logged;
        EXPECT_STREQ(scene.tier(2).name, "gds0");
        EXPECT_EQ(scene.tier(2).kind, HBF_TIER_COLD);
        const hbf_region_info from = scene.allocate(1, size), to = scene.allocate(1, size);
        const hbf_region device = scene.allocate(0, size).region;
        const hbf_region file = scene.allocate(2, size + 64).region, other = scene.allocate(2, size + 64).region;
        for (uint64_t i = 0; i < size; ++i) static_cast<unsigned char *>(from.address)[i] = byte_of(i);
        // One batch: what is read was written by the command before it. Places and lengths are odd ones.
        EXPECT_EQ(scene.run({Scene::copy(file, 13, from.region, 0, size), Scene::copy(other, 1, file, 13, size),
                             Scene::copy(device, 0, other, 1, size), Scene::copy(to.region, 0, device, 0, size)}),
                  HBF_OK);
        EXPECT_EQ(std::memcmp(from.address, to.address, size), 0);
        std::memset(to.address, 0, size);
        EXPECT_EQ(scene.run({Scene::copy(file, 0, device, 0, size), Scene::copy(to.region, 0, file, 0, size)}), HBF_OK);
        EXPECT_EQ(std::memcmp(from.address, to.address, size), 0);
    });
}

TEST_F(NvidiaStorage, FillsEndWhereTheyShould) {
    passes_in_child("", [] {
        Scene scene;
        const hbf_region file = scene.allocate(2, size).region;
        const hbf_region_info seen = scene.allocate(1, size);
        const auto *const bytes = static_cast<const unsigned char *>(seen.address);
        for (const uint32_t width : {1u, 2u, 4u, 8u}) {
            hbf_command clear{}, fill{};
            clear.kind = fill.kind = HBF_COMMAND_FILL;
            clear.u.fill = {file, 0, size, 0xee, 1, 0};
            fill.u.fill = {file, 24, size - 100, 0x8877665544332211u, width, 0};
            ASSERT_EQ(scene.run({clear, fill, Scene::copy(seen.region, 0, file, 0, size)}), HBF_OK);
            uint64_t wrong = 0;
            for (uint64_t i = 0; i < size; ++i) {
                const bool inside = i >= 24 && i < size - 76;
                wrong += bytes[i] != (inside ? 0x11 * (1 + (i - 24) % width) : 0xee);
            }
            EXPECT_EQ(wrong, 0u) << "width " << width;
        }
    });
}

TEST_F(NvidiaStorage, ANewRegionHasNobodysBytesAndAFullOneSaysSo) {
    passes_in_child("", [] {
        Scene scene;
        const uint64_t before = scene.tier(2).available;
        const hbf_region_info from = scene.allocate(1, size);
        std::memset(from.address, 0x5a, size);
        const hbf_region first = scene.allocate(2, size).region;
        EXPECT_LT(scene.tier(2).available, before);
        EXPECT_EQ(scene.run({Scene::copy(first, 0, from.region, 0, size)}), HBF_OK);
        scene.instance->free(first);
        EXPECT_EQ(scene.tier(2).available, before);
        const hbf_region second = scene.allocate(2, size).region;
        EXPECT_EQ(scene.run({Scene::copy(from.region, 0, second, 0, size)}), HBF_OK);
        EXPECT_EQ(static_cast<const char *>(from.address)[0], 0);
        EXPECT_EQ(std::memcmp(from.address, static_cast<const char *>(from.address) + 1, size - 1), 0);
        const sdk::Failure full = refusal([&] { (void)scene.allocate(2, 15 * mebibyte); });
        EXPECT_EQ(full.status, HBF_EXHAUSTED) << full.message;
    });
}

// The open descriptor of the file without a name.
int storage_descriptor() {
    for (int fd = 3; fd < 256; ++fd) {
        char target[4096] = {};
        if (::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof target - 1) > 0 &&
            std::strstr(target, testing::TempDir().c_str()) && std::strstr(target, "(deleted)"))
            return fd;
    }
    return -1;
}

TEST_F(NvidiaStorage, AFileThatLosesItsEndFailsTheValueAndNoneBefore) {
    passes_in_child("", [] {
        Scene scene;
        const hbf_region file = scene.allocate(2, size).region, device = scene.allocate(0, size).region;
        EXPECT_EQ(scene.run({Scene::copy(device, 0, file, 0, size)}), HBF_OK);
        const int fd = storage_descriptor();
        ASSERT_GE(fd, 0);
        ASSERT_EQ(::ftruncate(fd, mebibyte), 0);
        EXPECT_EQ(scene.run({Scene::copy(device, 0, file, 0, 4096)}), HBF_OK) << "what is there still is read";
        EXPECT_EQ(scene.run({Scene::copy(device, 0, file, 0, size)}), HBF_DATA_LOSS);
        EXPECT_EQ(scene.queue->poll().failed, 3u);
        ASSERT_TRUE(scene.queue->failure());
        EXPECT_NE(scene.queue->failure()->message.find("moved fewer bytes"), std::string::npos)
            << scene.queue->failure()->message;
    });
}

TEST(NvidiaStorageFallback, IsSaidWithItsReason) {
    passes_in_child("", [] {
        const Opened opened(with_storage("/proc")); // has no files without a name
        EXPECT_EQ(opened.instance->tier_count(), 2u);
        EXPECT_NE(opened.logged.find("no tier gds0 in /proc"), std::string::npos) << opened.logged;
        EXPECT_NE(opened.logged.find("through pinned memory"), std::string::npos) << opened.logged;
    });
    passes_in_child("", [] {
        const sdk::Failure failure = refusal([] { const Opened opened(with_storage("/nowhere-at-all")); });
        EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
        EXPECT_NE(failure.message.find("/nowhere-at-all"), std::string::npos) << failure.message;
    });
}

TEST(NvidiaStorageFallback, ALibraryThatIsNotThereOrTooOldHasAReason) {
    passes_in_child("", [] {
        cufile::Functions functions;
        EXPECT_NE(cufile::load("libcufile-nowhere.so.0", functions).find("libcufile-nowhere.so.0"), std::string::npos);
        const std::string old = cufile::load("libcuda.so.1", functions);
        EXPECT_NE(old.find("lacks functions of release 1.7: cuFileDriverOpen"), std::string::npos) << old;
        EXPECT_EQ(cufile::load("libcufile.so.0", functions), "");
    });
}

TEST(NvidiaOptions, OfStorage) {
    EXPECT_EQ(refusal([] { (void)parse_options({{"storage_path", "relative"}}); }).status, HBF_INVALID);
    EXPECT_EQ(refusal([] { (void)parse_options({{"storage_bytes", "1 GiB"}}); }).status, HBF_INVALID);
    EXPECT_EQ(parse_options({{"storage_path", "/a"}, {"storage_bytes", "1 GiB"}}).storage_bytes, uint64_t{1} << 30);
}

} // namespace
} // namespace hbf::nvidia
