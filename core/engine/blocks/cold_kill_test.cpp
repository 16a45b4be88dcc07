// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any point of a process whose cache writes to its log: what save() has returned for is found afterwards, and
// what is found is right. HBF_KILLS=200 for a campaign, HBF_SEED for another one.
#include <csignal>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include "core/engine/blocks/cold_fixture.hpp"

namespace hbf::kv {
namespace {

class ColdTierKill : public ColdTierTest {
protected:
    static constexpr uint32_t prompts = 24;

    static std::vector<uint32_t> prompt(uint32_t number) { return tokens(10000 * number, 32 + number * 7 % 5 * 16); }
    CacheOptions options_at(const std::filesystem::path &root) { return logged_at(small(24, number_of_hbf), root, 128); }
    static constexpr uint64_t number_of_hbf = 12;
};

// The process that is killed: prompts come, are computed where they are not found, and go.
TEST_F(ColdTierKill, DISABLED_Child) {
    const char *const root = std::getenv("HBF_KILL_ROOT");
    const char *const child_seed = std::getenv("HBF_KILL_SEED");
    const char *const pipe_end = std::getenv("HBF_KILL_PIPE");
    if (root == nullptr || child_seed == nullptr || pipe_end == nullptr) GTEST_SKIP() << "is started by the other test";
    std::mt19937 random(static_cast<uint32_t>(std::stoul(child_seed)));
    const auto say = [fd = std::atoi(pipe_end)](uint32_t word) {
        if (::write(fd, &word, sizeof word) != sizeof word) ::_exit(3);
    };
    KvCache cache = must(KvCache::open(options_at(root)));
    std::vector<Sequence> held;
    std::set<uint32_t> seen;
    for (;;) {
        const uint32_t number = random() % prompts;
        const auto mine = prompt(number);
        Sequence sequence = must(cache.sequence(and_one(mine)));
        if (sequence.reused() < mine.size()) must(write(sequence, std::span(mine).subspan(sequence.reused())));
        if (const std::string wrong = check(sequence, mine); !wrong.empty()) {
            std::fprintf(stderr, "prompt %u: %s\n", number, wrong.c_str());
            ::_exit(4);
        }
        seen.insert(number);
        if (held.size() < 4) held.push_back(std::move(sequence));
        if (random() % 4 == 0) held.clear();
        if (random() % 3 == 0) {
            must(cache.save());
            for (const uint32_t one : seen) say(one);
            seen.clear();
        }
        say(~0u); // still here
    }
}

TEST_F(ColdTierKill, WhatWasSavedIsFoundAndRight) {
    SCOPED_TRACE("seed " + std::to_string(cold::testing::seed()));
    std::mt19937 random(cold::testing::seed());
    std::set<uint32_t> saved;
    const int kills = cold::testing::rounds("HBF_KILLS", 8);
    for (int kill = 0; kill < kills; ++kill) {
        SCOPED_TRACE("kill " + std::to_string(kill));
        int words[2];
        ASSERT_EQ(::pipe(words), 0);
        const std::string child_seed = std::to_string(random());
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(words[0]);
            ::setenv("HBF_KILL_PIPE", std::to_string(words[1]).c_str(), 1);
            ::setenv("HBF_KILL_ROOT", scratch.log().c_str(), 1);
            ::setenv("HBF_KILL_SEED", child_seed.c_str(), 1);
            ::execl("/proc/self/exe", "child", "--gtest_also_run_disabled_tests",
                    "--gtest_filter=ColdTierKill.DISABLED_Child", "--gtest_print_time=0", "--gtest_brief=1", nullptr);
            ::_exit(5);
        }
        ::close(words[1]);
        uint32_t word = 0;
        unsigned left = 1 + random() % 40;
        const auto pause = random() % 3000; // microseconds: not only where it says something
        while (::read(words[0], &word, sizeof word) == sizeof word) {
            if (word < prompts) saved.insert(word);
            if (left > 0 && --left == 0) {
                ::usleep(pause);
                ::kill(child, SIGKILL);
            }
        }
        ::close(words[0]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);

        auto options = options_at(scratch.log());
        options.keep_at_close = false; // what this one does is no part of the question
        KvCache cache = must(KvCache::open(options));
        for (uint32_t number = 0; number < prompts; ++number) {
            const auto mine = prompt(number);
            Sequence sequence = must(cache.sequence(and_one(mine)));
            if (saved.contains(number)) {
                EXPECT_EQ(sequence.reused(), mine.size()) << "prompt " << number;
            }
            const auto there = std::span(mine).first(sequence.reused());
            EXPECT_EQ(check(sequence, there), "") << "prompt " << number;
        }
        EXPECT_EQ(cache.stats().log.lost_blocks, 0u);
        EXPECT_EQ(cache.stats().damaged, 0u);
        if (HasFailure()) return;
    }
    EXPECT_FALSE(saved.empty());
}

} // namespace
} // namespace hbf::kv
