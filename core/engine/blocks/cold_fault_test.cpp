// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the log under a cache: a granule that is damaged or gone is a miss, a full or broken disk loses nothing
// that is in memory, and all of it is said.
#include <cerrno>

#include "core/engine/blocks/cold_fixture.hpp"

namespace hbf::kv {
namespace {

// Reads what is there, and computes again what is not: as a server does. What is wrong, "" if nothing.
std::string read_or_compute(const std::function<std::string()> &check, Sequence &sequence,
                            const std::function<void()> &compute_rest, uint64_t &recomputed) {
    for (int tries = 0; tries < 64; ++tries) {
        const std::string wrong = check();
        if (wrong.empty()) return "";
        const size_t at = wrong.find("tokens from ");
        if (at == std::string::npos) return wrong;
        const uint64_t from = std::stoull(wrong.substr(at + 12));
        recomputed += sequence.tokens() - from;
        if (auto cut = sequence.truncate(from); !cut) return cut.error().message;
        compute_rest();
    }
    return "it does not come to an end";
}

class ColdFaultTest : public ColdTierTest {
protected:
    // Every prompt by a cache that is opened anew. The tokens that it had to compute.
    uint64_t look(const CacheOptions &options, const std::vector<std::vector<uint32_t>> &prompts) {
        KvCache cache = must(KvCache::open(options));
        uint64_t computed = 0;
        for (const auto &prompt : prompts) {
            Sequence sequence = must(cache.sequence(and_one(prompt)));
            const auto rest = [&] { must(write(sequence, std::span(prompt).subspan(sequence.tokens()))); };
            computed += prompt.size() - sequence.tokens();
            if (sequence.tokens() < prompt.size()) rest();
            EXPECT_EQ(read_or_compute([&] { return check(sequence, prompt); }, sequence, rest, computed), "");
        }
        return computed;
    }
    std::vector<std::vector<uint32_t>> some_prompts() {
        std::vector<std::vector<uint32_t>> prompts;
        for (uint32_t i = 0; i < 12; ++i) prompts.push_back(tokens(1000 * i, 64));
        return prompts;
    }
    void leave_all(const CacheOptions &options, const std::vector<std::vector<uint32_t>> &prompts) {
        KvCache cache = must(KvCache::open(options));
        for (const auto &prompt : prompts) {
            Sequence sequence = must(cache.sequence());
            must(write(sequence, prompt));
        }
    }
};

TEST_F(ColdFaultTest, FlippedBitsAreMissesAndNeverData) {
    const auto prompts = some_prompts();
    const auto options = logged(64);
    leave_all(options, prompts);
    ASSERT_EQ(look(options, prompts), 0u) << "nothing is wrong yet";
    std::mt19937 random(cold::testing::seed());
    SCOPED_TRACE("seed " + std::to_string(cold::testing::seed()));
    uint64_t computed = 0;
    for (int i = 0; i < 12; ++i) {
        const auto all = segments();
        for (int flips = 0; flips < 3; ++flips) cold::testing::flip(all[random() % all.size()], random() % (1 << 20));
        computed += look(options, prompts);
        if (HasFailure()) return;
    }
    EXPECT_GT(computed, 0u) << "no flip hit anything";
    EXPECT_LT(computed, 12 * 12 * 64u) << "what was not hit was not computed again";
}

TEST_F(ColdFaultTest, DamageUnderARunningCacheIsToldToWhoHoldsIt) {
    const auto prompt = tokens(1, 64);
    KvCache cache = must(KvCache::open(logged()));
    Sequence sequence = must(cache.sequence());
    must(write(sequence, prompt));
    must(sequence.move_to(Tier::cold));
    for (const auto &file : segments())
        for (uint64_t at = 4096; at < (1 << 20); at += 32768) cold::testing::flip(file, at);
    const std::string wrong = check(sequence, prompt);
    EXPECT_TRUE(contains(wrong, "is damaged: its CRC-32C does not match; compute them again")) << wrong;
    EXPECT_GT(cache.stats().log.lost_blocks, 0u);
    EXPECT_GT(cache.stats().log.damaged_granules, 0u);
    EXPECT_EQ(must(cache.sequence(and_one(prompt))).reused(), 0u) << "nobody finds it any more";
    must(sequence.truncate(0));
    must(write(sequence, prompt));
    EXPECT_EQ(check(sequence, prompt), "");
    must(sequence.move_to(Tier::cold));
    EXPECT_EQ(check(sequence, prompt), "") << "written anew, where nothing is damaged";
}

TEST_F(ColdFaultTest, ATornSegmentIsAMiss) {
    const auto prompts = some_prompts();
    const auto options = logged(64);
    leave_all(options, prompts);
    const auto last = segments().back();
    std::filesystem::resize_file(last, 300000); // what a file system may leave of it
    std::filesystem::resize_file(last, 1 << 20);
    const uint64_t computed = look(options, prompts);
    EXPECT_GT(computed, 0u);
    EXPECT_LT(computed, 12 * 64u);
    EXPECT_EQ(look(options, prompts), 0u) << "what was computed again is there again";
}

// A block of several granules of which one is gone is not there.
TEST_F(ColdFaultTest, HalfABlockIsNoBlock) {
    auto options = logged(64);
    options.model.layers = 1;
    options.model.kv_heads = 4;
    options.model.query_heads = 4;
    options.model.head_dim = 128; // 16 tokens are 64 KiB: blocks of 32 have two granules
    options.settings.kv.chunk_size = 32;
    const auto all = tokens(1, 64);
    std::vector<float> numbers(64 * 512);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
    Identity first;
    {
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence());
        must(sequence.append(all));
        must(sequence.put(0, std::as_bytes(std::span(numbers)), std::as_bytes(std::span(numbers))));
        const auto info = must(cache.explain(sequence.blocks(0)[0]));
        ASSERT_GE(info.bytes, 2 * granule_size);
        first = info.identity;
        must(sequence.move_to(Tier::cold));
    }
    const auto open = [&](uint64_t expected) {
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence(and_one(all)));
        EXPECT_EQ(sequence.reused(), expected);
        std::vector<float> keys(expected * 512), values(expected * 512);
        if (expected == 0) return;
        must(sequence.read(0, 0, expected, std::as_writable_bytes(std::span(keys)),
                           std::as_writable_bytes(std::span(values))));
        EXPECT_TRUE(std::equal(keys.begin(), keys.end(), numbers.begin()));
    };
    open(64);
    {
        cold::LogOptions log;
        log.folder = segments().front().parent_path();
        cold::Superblock block;
        std::ifstream(log.folder / "log", std::ios::binary).read(reinterpret_cast<char *>(&block), sizeof block);
        log.owner.model = block.model;
        log.owner.layout = block.layout;
        log.capacity = 16 << 20;
        log.segment_bytes = 0;
        auto opened = must(cold::Log::open(log));
        ASSERT_TRUE(opened->find({first, 1})) << "the test looks for the wrong block";
        must(opened->remove({first, 1}));
        must(opened->close());
    }
    open(0);
}

TEST_F(ColdFaultTest, AFullDiskLosesNothingAndIsSaid) {
    cold::Calls calls = cold::system_calls();
    std::atomic<int64_t> left{3}; // segments that the disk has room for
    calls.allocate = [&, allocate = calls.allocate](int fd, uint64_t size) {
        if (size >= (1 << 20) && --left < 0) return ENOSPC;
        return allocate(fd, size);
    };
    auto options = logged(16); // segments of 1 MiB
    const auto core = must(CacheCore::make(options, &calls));
    KvCache cache(core);
    std::vector<Sequence> held;
    Result<> full;
    for (uint32_t i = 0; i < 20 && full; ++i) {
        Sequence sequence = must(cache.sequence());
        full = write(sequence, tokens(1000 * i, 64));
        if (full) held.push_back(std::move(sequence));
    }
    ASSERT_EQ(code_of(full), Code::exhausted);
    EXPECT_TRUE(contains(full.error().message, "all that could be given up is in use")) << full.error().message;
    EXPECT_GE(held.size(), 5u);
    const auto stats = cache.stats();
    EXPECT_GT(stats.log.refused_growths, 0u);
    EXPECT_GT(stats.log.failed, 0u);
    EXPECT_EQ(stats.log.lost_blocks, 0u);
    ASSERT_FALSE(cache.notes().empty());
    EXPECT_TRUE(contains(cache.notes()[0], "makes do with the segments that it has")) << cache.notes()[0];
    for (uint32_t i = 0; i < held.size(); ++i) EXPECT_EQ(check(held[i], tokens(1000 * i, 64)), "") << i;
    held.erase(held.begin() + 2, held.end());
    Sequence again = must(cache.sequence());
    must(write(again, tokens(77000, 64))); // goes on when somebody has gone
    EXPECT_EQ(check(again, tokens(77000, 64)), "");
    for (uint32_t i = 0; i < held.size(); ++i) EXPECT_EQ(check(held[i], tokens(1000 * i, 64)), "") << i;
}

TEST_F(ColdFaultTest, ABrokenDiskKeepsBlocksInMemory) {
    for (const bool at_commit : {false, true}) {
        cold::Calls calls = cold::system_calls();
        std::atomic<bool> broken{false};
        calls.write = [&, write = calls.write](int fd, const void *data, size_t size, uint64_t offset) -> int64_t {
            if (!broken || at_commit) return write(fd, data, size, offset);
            errno = EIO;
            return -1;
        };
        calls.sync = [&, sync = calls.sync](int fd) { return broken && at_commit ? EIO : sync(fd); };
        auto options = logged(12, 0, 64);
        options.settings.cold_storage.path += at_commit ? "/b" : "/a";
        std::filesystem::create_directory(options.settings.cold_storage.path);
        const auto core = must(CacheCore::make(options, &calls));
        KvCache cache(core);
        Sequence early = must(cache.sequence()), late = must(cache.sequence());
        must(write(early, tokens(1, 64)));
        must(early.move_to(Tier::cold));
        broken = true;
        must(write(late, tokens(900, 64)));
        const auto failed = cache.migrate(late.blocks(0)[0], Tier::cold);
        ASSERT_EQ(code_of(failed), Code::data_loss) << "what the disk says";
        EXPECT_TRUE(contains(failed.error().message, "nothing more is written to this log until it is opened again"));
        EXPECT_EQ(must(cache.explain(late.blocks(0)[0])).tier, Tier::hbm);
        EXPECT_FALSE(must(cache.explain(late.blocks(0)[0])).lost);
        EXPECT_EQ(check(late, tokens(900, 64)), "");
        EXPECT_EQ(check(early, tokens(1, 64)), "") << "reading goes on";
        Sequence third = must(cache.sequence());
        EXPECT_EQ(code_of(write(third, tokens(5000, 96))), Code::exhausted);
        EXPECT_EQ(check(late, tokens(900, 64)), "");
        EXPECT_EQ(cache.stats().log.lost_blocks, 0u);
        EXPECT_FALSE(cache.save());
    }
}

} // namespace
} // namespace hbf::kv
