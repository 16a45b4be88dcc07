// SPDX-License-Identifier: Apache-2.0
// The host as a device: which tiers it has, what becomes of regions, and what is refused.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>

#include "instance.hpp"
#include "storage/testing.hpp"

namespace hbf::host {
namespace {

using testing::failure_of;

class HostInstanceTest : public ::testing::Test {
protected:
    sdk::Options options() const {
        return {
            {"storage_path", scratch_.path()}, {"storage_bytes", "64MiB"}, {"dram_bytes", "64MiB"}, {"hbf_bytes", "32MiB"}};
    }
    std::unique_ptr<HostInstance> open(const sdk::Options &given) {
        return std::make_unique<HostInstance>(parse_options(given, ""), log_.log());
    }
    static std::vector<hbf_tier_info> tiers(HostInstance &host) {
        std::vector<hbf_tier_info> all(host.tier_count());
        for (uint32_t tier = 0; tier < all.size(); ++tier) {
            all[tier].struct_size = sizeof all[tier];
            host.describe_tier(tier, all[tier]);
        }
        return all;
    }
    static uint32_t find(const std::vector<hbf_tier_info> &all, hbf_tier_kind kind) {
        for (uint32_t tier = 0; tier < all.size(); ++tier)
            if (all[tier].kind == kind) return tier;
        return HBF_TIER_NONE;
    }
    // Runs one command to its end.
    static void run(HostInstance &host, const hbf_command &command) {
        auto queue = host.create_queue({});
        hbf_batch batch{sizeof(hbf_batch), sizeof(hbf_command), &command, 1};
        const uint64_t value = queue->submit(sdk::BatchView(batch));
        ASSERT_TRUE(queue->wait(value, UINT64_MAX));
        ASSERT_EQ(queue->poll().failed, 0u) << queue->failure()->message;
    }
    static hbf_command copy(hbf_region dst, hbf_region src, uint64_t size) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, 0, src, 0, size, nullptr};
        return command;
    }

    testing::ScratchDirectory scratch_;
    testing::KeptLog log_;
};

TEST_F(HostInstanceTest, TiersLeadFromNearMemoryToStorage) {
    auto host = open(options());
    auto all = tiers(*host);
    const uint32_t near = find(all, HBF_TIER_HBM), warm = find(all, HBF_TIER_HBF), cold = find(all, HBF_TIER_COLD);
    ASSERT_NE(near, HBF_TIER_NONE);
    ASSERT_NE(warm, HBF_TIER_NONE);
    ASSERT_NE(cold, HBF_TIER_NONE);
    EXPECT_EQ(all[near].extended_by, warm);
    EXPECT_EQ(all[warm].extended_by, cold);
    EXPECT_EQ(all[cold].extended_by, HBF_TIER_NONE);
    EXPECT_EQ(all[near].coherence_domain, 0u);
    EXPECT_EQ(all[cold].coherence_domain, HBF_TIER_NONE);
    for (const hbf_tier_info &info : all) {
        EXPECT_EQ(info.reality, HBF_REALITY_REAL) << info.name;
        EXPECT_GT(info.capacity, 0u) << info.name;
        EXPECT_NE(info.name[0], '\0');
        EXPECT_NE(info.detail[0], '\0');
    }
    EXPECT_EQ(failure_of([&] { host->describe_tier(host->tier_count(), all[0]); }).status, HBF_INVALID);
}

TEST_F(HostInstanceTest, BytesGoThroughEveryTier) {
    auto host = open(options());
    constexpr uint64_t size = 3 << 20;
    auto data = testing::pattern(1, 0, size);
    std::vector<std::byte> back(size);
    hbf_region from = host->register_host(data.data(), size).region, to = host->register_host(back.data(), size).region;
    for (uint32_t tier = 0; tier < host->tier_count(); ++tier) {
        std::memset(back.data(), 0, size);
        hbf_region_info region = host->alloc({.tier = tier, .size = size});
        EXPECT_EQ(region.size, size);
        run(*host, copy(region.region, from, size));
        run(*host, copy(to, region.region, size));
        EXPECT_EQ(back, data) << "tier " << tier;
        host->free(region.region);
        EXPECT_EQ(failure_of([&] { host->free(region.region); }).status, HBF_INVALID) << "freed twice";
    }
    host->free(from);
    host->free(to);
}

TEST_F(HostInstanceTest, ANamedRegionIsThereOnceItIsFreed) {
    auto data = testing::pattern(2, 0, 100000);
    {
        auto host = open(options());
        const uint32_t cold = host->tier_count() - 1;
        hbf_region from = host->register_host(data.data(), data.size()).region;
        hbf_region kept = host->alloc({.tier = cold, .size = data.size(), .name = "kept"}).region;
        hbf_region left =
            host->alloc({.tier = cold, .size = data.size(), .name = "left"}).region; // to the end of the instance
        run(*host, copy(kept, from, data.size()));
        run(*host, copy(left, from, data.size()));
        EXPECT_TRUE(scratch_.names().empty());
        host->free(kept);
        EXPECT_EQ(scratch_.names(), std::vector<std::string>{"kept"});
    }
    EXPECT_EQ(scratch_.names(), (std::vector<std::string>{"kept", "left"}));
    auto host = open(options());
    std::vector<std::byte> back(data.size());
    hbf_region to = host->register_host(back.data(), back.size()).region;
    for (const char *name : {"kept", "left"}) {
        hbf_region stored =
            host->alloc({.tier = host->tier_count() - 1, .size = data.size(), .name = name, .open_existing = true}).region;
        std::memset(back.data(), 0, back.size());
        run(*host, copy(to, stored, data.size()));
        EXPECT_EQ(back, data) << name;
    }
}

TEST_F(HostInstanceTest, FreeSaysWhenANameCouldNotBeGiven) {
    auto host = open(options());
    hbf_region region = host->alloc({.tier = host->tier_count() - 1, .size = 4096, .name = "mine"}).region;
    ASSERT_EQ(::mkdir((scratch_.path() + "/mine").c_str(), 0700), 0); // somebody takes the name meanwhile
    auto failure = failure_of([&] { host->free(region); });
    EXPECT_EQ(failure.status, HBF_INVALID);
    EXPECT_NE(failure.message.find("/mine"), std::string::npos) << failure.message;
    EXPECT_TRUE(std::filesystem::is_directory(scratch_.path() + "/mine")) << "what was there stays";
}

TEST_F(HostInstanceTest, ARegionThatCouldNotBeNamedIsNotLost) {
    auto data = testing::pattern(5, 0, 100000);
    auto host = open(options());
    const uint32_t cold = host->tier_count() - 1;
    hbf_region from = host->register_host(data.data(), data.size()).region;
    hbf_region kept = host->alloc({.tier = cold, .size = data.size(), .name = "kept"}).region;
    run(*host, copy(kept, from, data.size()));
    const std::string in_the_way = scratch_.path() + "/kept";
    ASSERT_EQ(::mkdir(in_the_way.c_str(), 0700), 0);
    ASSERT_EQ(failure_of([&] { host->free(kept); }).status, HBF_INVALID);
    ASSERT_TRUE(std::filesystem::remove(in_the_way));
    host->free(kept);
    std::vector<std::byte> back(data.size());
    hbf_region to = host->register_host(back.data(), back.size()).region;
    run(*host, copy(to, host->alloc({.tier = cold, .size = data.size(), .name = "kept", .open_existing = true}).region,
                    data.size()));
    EXPECT_EQ(back, data);
}

TEST_F(HostInstanceTest, WrongRequestsAreRefused) {
    auto host = open(options());
    const uint32_t cold = host->tier_count() - 1;
    auto status = [&](const sdk::AllocRequest &request) { return failure_of([&] { host->alloc(request); }).status; };
    EXPECT_EQ(status({.tier = host->tier_count(), .size = 1}), HBF_INVALID);
    EXPECT_EQ(status({.tier = 0, .size = 0}), HBF_INVALID);
    EXPECT_EQ(status({.tier = 0, .size = 4096, .alignment = 3}), HBF_INVALID);
    EXPECT_EQ(status({.tier = 0, .size = UINT64_MAX}), HBF_EXHAUSTED);
    EXPECT_EQ(status({.tier = cold, .size = UINT64_MAX}), HBF_EXHAUSTED);
    EXPECT_EQ(status({.tier = 0, .size = 4096, .name = "memory"}), HBF_UNSUPPORTED);
    EXPECT_EQ(status({.tier = cold, .size = 4096, .pages = HBF_PAGES_2M}), HBF_UNAVAILABLE);
    EXPECT_EQ(status({.tier = cold, .size = 4096, .name = "../up"}), HBF_INVALID);
    EXPECT_EQ(status({.tier = cold, .size = 4096, .open_existing = true}), HBF_INVALID);
    std::byte byte{};
    EXPECT_EQ(failure_of([&] { host->register_host(nullptr, 1); }).status, HBF_INVALID);
    EXPECT_EQ(failure_of([&] { host->register_host(&byte, 0); }).status, HBF_INVALID);
    EXPECT_EQ(failure_of([&] { host->register_host(&byte, UINT64_MAX); }).status, HBF_INVALID);
}

TEST_F(HostInstanceTest, AStoragePathThatWasAskedForMustServe) {
    auto given = options();
    given["storage_path"] = scratch_.path() + "/none";
    EXPECT_EQ(failure_of([&] { open(given); }).status, HBF_UNAVAILABLE);
}

class HomeVariables { // the default directory comes from the environment
public:
    HomeVariables(const std::string &home, const std::string &cache) {
        for (auto [name, value] : {std::pair{"HOME", &home}, {"XDG_CACHE_HOME", &cache}}) {
            if (const char *old = std::getenv(name))
                old_.emplace_back(name, old);
            else
                fresh_.push_back(name);
            value->empty() ? ::unsetenv(name) : ::setenv(name, value->c_str(), 1);
        }
    }
    ~HomeVariables() {
        for (const auto &[name, value] : old_) ::setenv(name.c_str(), value.c_str(), 1);
        for (const std::string &name : fresh_) ::unsetenv(name.c_str());
    }

private:
    std::vector<std::pair<std::string, std::string>> old_;
    std::vector<std::string> fresh_;
};

TEST_F(HostInstanceTest, DefaultDirectoryIsTheUsersCache) {
    auto given = options();
    given.erase("storage_path");
    for (bool xdg : {true, false}) {
        const std::string home = scratch_.path() + (xdg ? "/a" : "/b");
        ASSERT_EQ(::mkdir(home.c_str(), 0755), 0);
        HomeVariables variables(home, xdg ? home + "/xdg" : "");
        auto host = open(given);
        const std::string made = home + (xdg ? "/xdg" : "/.cache") + "/hbf/storage";
        struct stat info{};
        ASSERT_EQ(::stat(made.c_str(), &info), 0) << made;
        EXPECT_EQ(info.st_mode & 0777, 0700u);
        EXPECT_NE(find(tiers(*host), HBF_TIER_COLD), HBF_TIER_NONE);
    }
}

TEST_F(HostInstanceTest, WithoutADefaultDirectoryEveryMemoryTierSaysWhy) {
    auto given = options();
    given.erase("storage_path");
    HomeVariables variables("", "");
    auto host = open(given);
    auto all = tiers(*host);
    EXPECT_EQ(find(all, HBF_TIER_COLD), HBF_TIER_NONE);
    for (const hbf_tier_info &info : all) {
        EXPECT_NE(std::string(info.detail).find("no storage tier: neither XDG_CACHE_HOME nor HOME"), std::string::npos)
            << info.name << ": " << info.detail;
        EXPECT_NE(info.extended_by, all.size());
    }
    EXPECT_NE(log_.text().find("no storage tier"), std::string::npos) << log_.text();
}

TEST_F(HostInstanceTest, ManyInstancesAtOnce) {
    auto one = open(options()), two = open(options());
    hbf_region a = one->alloc({.tier = 0, .size = 4096}).region;
    EXPECT_EQ(failure_of([&] { two->free(a + 1); }).status, HBF_INVALID);
    one->free(a);
}

} // namespace
} // namespace hbf::host
