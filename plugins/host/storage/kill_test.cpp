// SPDX-License-Identifier: Apache-2.0
// SIGKILL at any point: a named file is whole or not there, and nothing else stays.
#include <csignal>
#include <cstring>
#include <random>

#include "testing.hpp"

namespace hbf::host {
namespace {

using namespace testing;

constexpr uint64_t size = 200000;

std::unique_ptr<StorageTier> open_at(const std::string &path, bool nameless) {
    StorageOptions options;
    options.path = path;
    options.capacity = 1 << 30;
    StorageInternals internals;
    internals.nameless_files = nameless;
    return open_storage(options, {}, internals);
}

// Makes one named region after another and says each step, until it is killed.
[[noreturn]] void make_regions(const std::string &path, bool nameless, unsigned first, int steps) {
    auto step = [&] {
        if (::write(steps, "x", 1) != 1) ::_exit(1);
    };
    auto tier = open_at(path, nameless);
    auto channel = tier->create_channel(4);
    for (unsigned number = first;; ++number) {
        step();
        auto file = tier->create(size, "region" + std::to_string(number), false);
        step();
        auto data = pattern(number, 0, size);
        for (uint64_t at = 0; at < size; at += 50000) {
            if (write(*channel, *file, at, data.data() + at, 50000).status != HBF_OK) ::_exit(2);
            step();
        }
        file->publish();
        step();
    }
}

class Kill : public ::testing::TestWithParam<bool> {};

TEST_P(Kill, LeavesWholeFilesAndNothingElse) {
    ScratchDirectory scratch;
    std::mt19937 random(GetParam() ? 21 : 22);
    unsigned whole = 0;
    for (int round = 0; round < 25; ++round) {
        int steps[2];
        ASSERT_EQ(::pipe(steps), 0);
        std::fflush(nullptr);
        pid_t child = ::fork();
        if (child == 0) {
            ::close(steps[0]);
            make_regions(scratch.path(), GetParam(), whole, steps[1]);
        }
        ::close(steps[1]);
        char byte;
        for (unsigned left = random() % 20; left > 0; --left)
            ASSERT_EQ(::read(steps[0], &byte, 1), 1) << "the child gave up";
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
        ::close(steps[0]);

        auto tier = open_at(scratch.path(), GetParam()); // the lock is free, and leftovers are swept
        auto channel = tier->create_channel(4);
        auto names = scratch.names();
        for (unsigned number = 0; number < names.size(); ++number) {
            auto file = tier->create(size, "region" + std::to_string(number), true); // none is missing, none is extra
            std::vector<std::byte> got(size);
            ASSERT_EQ(read(*channel, *file, 0, got.data(), size).status, HBF_OK);
            ASSERT_EQ(got, pattern(number, 0, size)) << "region" << number << " is half-written";
        }
        whole = static_cast<unsigned>(names.size());
    }
    EXPECT_GT(whole, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Kill, ::testing::Bool(),
                         [](const auto &variant) { return variant.param ? "tmpfile" : "temporary"; });

} // namespace
} // namespace hbf::host
