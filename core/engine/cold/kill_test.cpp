// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any point of a process that writes, with io_uring and O_DIRECT, on the real disk. HBF_KILLS=200 for a campaign,
// HBF_SEED for another one.
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "core/engine/cold/testing/cold.hpp"
#include "core/engine/cold/view.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

struct Step {
    uint64_t generation = 0; // 0: removed
    uint32_t number = 0, is_commit = 0;
};

// Says each step before it is done, and each commit after it.
[[noreturn]] void write_for_ever(const LogOptions &options, uint32_t first_seed, uint64_t generation, int steps) {
    const auto say = [&](const Step &step) {
        if (::write(steps, &step, sizeof step) != sizeof step) ::_exit(1);
    };
    std::mt19937 random(first_seed);
    auto log = must(Log::open(options));
    for (;;) {
        const uint32_t number = random() % 40;
        const uint32_t what = random() % 16;
        if (what == 0) {
            say({0, number, 0});
            must(log->remove(key(number)));
        } else if (what <= 3) {
            must(log->commit());
            say({0, 0, 1});
        } else {
            say({++generation, number, 0});
            append(*log, number, generation, random() % 2 ? granule_size : 1 + random() % granule_size);
        }
    }
}

class ColdKill : public ::testing::TestWithParam<bool> {};

TEST_P(ColdKill, CommittedGranulesSurvive) {
    const bool narrow = GetParam();
    Scratch scratch;
    Memory memory;
    std::mt19937 random(seed());
    uint64_t generation = 0, commits = 0;
    const LogOptions options = options_for(scratch, narrow ? 4 : 24);
    const int kills = rounds("HBF_KILLS", 6);
    for (int kill = 0; kill < kills; ++kill) {
        SCOPED_TRACE("seed " + std::to_string(seed()) + ", kill " + std::to_string(kill));
        int steps[2];
        ASSERT_EQ(::pipe(steps), 0);
        const auto child_seed = static_cast<uint32_t>(random());
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(steps[0]);
            try {
                write_for_ever(options, child_seed, generation, steps[1]);
            } catch (const std::exception &problem) {
                std::fprintf(stderr, "%s\n", problem.what());
                ::_exit(2);
            }
        }
        ::close(steps[1]);
        Step step;
        unsigned left = random() % 120;
        while (::read(steps[0], &step, sizeof step) == sizeof step) {
            if (step.is_commit) {
                memory.commit();
                ++commits;
            } else {
                memory.stage(step.number, step.generation);
                generation = std::max(generation, step.generation);
            }
            if (left > 0 && --left == 0) ::kill(child, SIGKILL);
            if (left == 0) ::kill(child, SIGKILL);
        }
        ::close(steps[0]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
        if (kill % 2 == 0 && generation > 0) {
            const auto view = View::open(options.folder, options.owner); // before anybody has mended anything
            if (view) {
                auto reader = must((*view)->make_reader(4));
                for (uint32_t number = 0; number < 40; ++number) {
                    const auto got = read_generation(*reader, number);
                    ASSERT_TRUE(got || got.error().code == Code::unavailable) << got.error().message;
                }
            } else {
                ASSERT_EQ(view.error().code, Code::unavailable) << view.error().message; // killed before it was made
            }
        }
        auto log = must(Log::open(options));
        memory.check(*log, narrow);
        if (::testing::Test::HasFailure()) return;
        EXPECT_EQ(log->stats().lost, 0u);
    }
    EXPECT_GT(commits, 0u);
}

INSTANTIATE_TEST_SUITE_P(Room, ColdKill, ::testing::Bool(), [](const auto &room) { return room.param ? "narrow" : "wide"; });

} // namespace
} // namespace hbf::kv::cold
