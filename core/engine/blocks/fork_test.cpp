// SPDX-License-Identifier: Apache-2.0
// fork() while threads use a cache: the child is told, hangs nowhere and spoils nothing of the parent's.
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "core/engine/blocks/cache_fixture.hpp"
#include "core/engine/observe/view.hpp"

namespace hbf::kv {
namespace {

template <class T>
bool told(const Result<T> &result) {
    return !result && result.error().code == Code::unavailable && contains(result.error().message, "before fork()");
}

TEST_F(CacheTest, AChildOfForkIsToldAndTheParentGoesOn) {
    auto options = small(64, 512);
    options.background = true;
    options.settings.kv.swap_threshold = 0.1;
    std::optional<KvCache> cache = must(KvCache::open(options));
    std::optional<Sequence> sequence = must(cache->sequence());
    const auto all = tokens(1, 64);
    must(write(*sequence, all));
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            for (uint32_t round = 1; !done; ++round) {
                Sequence other = must(cache->sequence());
                must(write(other, tokens(round * 100 + i * 1000000, 33)));
            }
        });
    for (int round = 0; round < 30; ++round) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0) << std::strerror(errno);
        if (child == 0) {
            ::alarm(100); // whoever hangs is killed
            std::vector<float> query(4 * dim), output(4 * dim);
            const auto tokens_of_it = tokens(900, 1);
            int wrong = 0;
            wrong |= told(cache->sequence(all)) ? 0 : 1;
            wrong |= told(sequence->append(tokens_of_it)) ? 0 : 2;
            wrong |= told(sequence->attend(0, query, output)) ? 0 : 4;
            wrong |= told(sequence->fork()) ? 0 : 8;
            wrong |= told(cache->migrate(0, Tier::hbf)) && told(cache->set_budget(Tier::hbm, 1 << 20)) ? 0 : 16;
            wrong |= cache->stats().blocks == 0 && cache->block_tokens(0) == 0 && sequence->tokens() == 64 ? 0 : 32;
            sequence.reset(); // handles may be dropped in any order
            cache.reset();
            ::_exit(wrong);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status)
                                          << (WTERMSIG(status) == SIGALRM ? ": it hung" : "");
        ASSERT_EQ(WEXITSTATUS(status), 0) << "bits of what was not said";
    }
    done = true;
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(check(*sequence, all), "");
    EXPECT_EQ(observe::find_pages_of(static_cast<uint32_t>(::getpid())).size(), 1u) << "the page is the parent's still";
    EXPECT_EQ(cache->stats().damaged, 0u);
}

} // namespace
} // namespace hbf::kv
