// SPDX-License-Identifier: Apache-2.0
// Memory that runs out, at every allocation in turn: an error that says so, and everything as it was before.
#include "core/engine/blocks/cache_fixture.hpp"
#include "core/fabric/testing/allocations.hpp"

namespace hbf::kv {
namespace {

class CacheWithoutMemory : public CacheTest {
protected:
    // Does `work` with its first allocation failing, then its second, until none fails. After each time `after` says what is
    // wrong, "" if nothing is.
    template <class Work, class After>
    void sweep(const char *what, const Work &work, const After &after) {
        bool failed = true;
        for (uint64_t nth = 1; failed; ++nth) {
            fail_allocation(nth);
            const auto done = work();
            failed = allocation_failed();
            fail_allocation(0);
            failures += failed ? 1 : 0;
            if (!done) {
                ASSERT_TRUE(failed) << what << ": " << done.error().message;
                ASSERT_EQ(done.error().code, Code::exhausted) << what << ", " << nth << ": " << done.error().message;
            }
            ASSERT_EQ(after(), "") << what << ", allocation " << nth;
        }
    }
    void TearDown() override { EXPECT_GT(failures, 10u) << "hardly anything was allocated: this shows nothing"; }

    // A step of a sequence, with all that it takes made before.
    struct Step {
        explicit Step(std::vector<uint32_t> of, uint64_t at) : tokens(std::move(of)) {
            for (uint32_t layer = 0; layer < 2; ++layer)
                for (const bool key : {true, false}) numbers[layer][key ? 0 : 1] = rows(tokens, at, layer, key);
        }
        Result<> put(Sequence &sequence) const {
            const uint64_t at = sequence.tokens();
            auto done = sequence.append(tokens);
            for (uint32_t layer = 0; done && layer < 2; ++layer)
                done = sequence.put(layer, std::as_bytes(std::span(numbers[layer][0])),
                                    std::as_bytes(std::span(numbers[layer][1])));
            if (!done) must(sequence.truncate(at));
            return done;
        }
        std::vector<uint32_t> tokens;
        std::vector<float> numbers[2][2];
    };
    uint64_t failures = 0;

    // Every granule that is in use belongs to a block, and every reference to a sequence.
    static std::string accounts(KvCache &cache, uint64_t held) {
        const auto stats = cache.stats();
        for (uint32_t i = 0; i < tier_count; ++i) {
            const TierStats &tier = stats.tiers[i];
            if (tier.used != (tier.blocks + tier.lower_copies) * granule_size + tier.waiting)
                return "tier " + std::to_string(i) + " has " + std::to_string(tier.used / granule_size) + " granules for " +
                       std::to_string(tier.blocks) + " blocks and " + std::to_string(tier.lower_copies) + " copies";
        }
        uint64_t references = 0;
        for (BlockId block = 0; block < 2048; ++block) {
            const auto info = cache.explain(block);
            if (!info) continue;
            if (info->moving) return "block " + std::to_string(block) + " is being moved by nobody";
            references += info->references;
            if (info->same_as != no_block) --references; // which that block has of the other
        }
        return references == held ? "" : std::to_string(references) + " references instead of " + std::to_string(held);
    }
    static uint64_t held_by(const Sequence &sequence) { return sequence.blocks(0).size() + sequence.blocks(1).size(); }
};

TEST_F(CacheWithoutMemory, OpeningFailsWhole) {
    const uint64_t regions = script.live_regions;
    std::optional<KvCache> cache;
    sweep(
        "open",
        [&]() -> Result<> {
            auto opened = KvCache::open(small());
            if (!opened) return tl::unexpected(opened.error());
            cache = std::move(*opened);
            return {};
        },
        [&] { return cache || script.live_regions == regions ? std::string() : "regions are left"; });
}

TEST_F(CacheWithoutMemory, SequencesStayAsTheyWere) {
    KvCache cache = must(KvCache::open(small(40, 64)));
    Sequence sequence = must(cache.sequence());
    auto all = tokens(1, 40);
    must(write(sequence, all));
    const auto fine = [&] {
        if (auto wrong = check(sequence, all); !wrong.empty()) return wrong;
        return accounts(cache, held_by(sequence));
    };
    sweep(
        "a prompt that is known",
        [&]() -> Result<> {
            auto other = cache.sequence(all);
            if (!other) return tl::unexpected(other.error());
            EXPECT_EQ(other->reused(), 32u);
            return {};
        },
        fine);
    const Step forked(tokens(700, 30), 40);
    sweep(
        "fork and write",
        [&]() -> Result<> {
            auto other = sequence.fork();
            if (!other) return tl::unexpected(other.error());
            return forked.put(*other);
        },
        fine);
    for (const uint32_t count : {1u, 7u, 30u}) {
        const Step step(tokens(1000 + count, count), all.size());
        all.reserve(all.size() + count);
        sweep(
            "write",
            [&] {
                auto done = step.put(sequence);
                if (done) all.insert(all.end(), step.tokens.begin(), step.tokens.end());
                return done;
            },
            fine);
    }
    const Step same(tokens(1, 32), 0);
    sweep(
        "the same by another", // compared, then stored once
        [&]() -> Result<> {
            auto other = cache.sequence();
            if (!other) return tl::unexpected(other.error());
            return same.put(*other);
        },
        fine);
    const Step after_cut(tokens(5000, 13), 20);
    sweep(
        "truncate and write",
        [&]() -> Result<> {
            if (auto done = sequence.truncate(20); !done) return done;
            all.resize(20);
            auto done = after_cut.put(sequence);
            if (done) all.insert(all.end(), after_cut.tokens.begin(), after_cut.tokens.end());
            return done;
        },
        fine);
}

TEST_F(CacheWithoutMemory, MovesLeaveBlocksWhereTheyAre) {
    KvCache cache = must(KvCache::open(small(40, 64)));
    Sequence sequence = must(cache.sequence());
    const auto all = tokens(1, 64);
    must(write(sequence, all));
    const auto before = attended(sequence);
    const auto fine = [&] {
        if (auto wrong = check(sequence, all); !wrong.empty()) return wrong;
        if (attended(sequence) != before) return std::string("other bits");
        return accounts(cache, held_by(sequence));
    };
    const BlockId block = sequence.blocks(0)[1];
    sweep("down", [&] { return cache.migrate(block, Tier::hbf); }, fine);
    sweep("up", [&] { return cache.migrate(block, Tier::hbm); }, fine);
    sweep("down to the copy that was kept", [&] { return cache.migrate(block, Tier::hbf); }, fine);
    const auto moved = [&](Tier to) -> Result<> {
        auto done = sequence.move_to(to);
        if (!done) return tl::unexpected(done.error());
        return *done == 8 ? Result<>() : fail(Code::exhausted, "not all");
    };
    sweep("all down", [&] { return moved(Tier::hbf); }, fine);
    sweep("all up", [&] { return moved(Tier::hbm); }, fine);
    must(sequence.move_to(Tier::hbf));
    std::vector<float> keys(all.size() * row), values(all.size() * row), query(4 * dim, 0.5f), output(4 * dim);
    sweep(
        "read",
        [&] {
            return sequence.read(0, 0, all.size(), std::as_writable_bytes(std::span(keys)),
                                 std::as_writable_bytes(std::span(values)));
        },
        fine);
    sweep("attend", [&] { return sequence.attend(0, query, output); }, fine);
}

TEST_F(CacheWithoutMemory, RoomIsMadeOrThereIsNone) {
    KvCache cache = must(KvCache::open(small(16, 40)));
    Sequence kept = must(cache.sequence());
    const auto all = tokens(1, 48); // 6 blocks
    must(write(kept, all));
    const auto fine = [&] {
        if (auto wrong = check(kept, all); !wrong.empty()) return wrong;
        return accounts(cache, held_by(kept));
    };
    const Step wide(tokens(4000, 16 * 12), 0); // 24 blocks
    sweep(
        "write beyond HBM",
        [&]() -> Result<> {
            auto other = cache.sequence();
            if (!other) return tl::unexpected(other.error());
            return wide.put(*other);
        },
        fine);
    sweep("a smaller budget", [&] { return cache.set_budget(Tier::hbm, 16 * granule_size); }, fine);
    uint64_t budget = 16;
    sweep("smaller budgets", [&] { return cache.set_budget(Tier::hbf, --budget * granule_size + 20 * granule_size); }, fine);
    sweep(
        "defragment",
        [&]() -> Result<> {
            auto done = cache.defragment(Tier::hbm, 0);
            return done ? Result<>() : tl::unexpected(done.error());
        },
        fine);
}

} // namespace
} // namespace hbf::kv
