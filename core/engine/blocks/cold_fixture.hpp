// SPDX-License-Identifier: Apache-2.0
// The small model of cache_fixture.hpp with a log as its cold tier, in a folder of the test's own.
#pragma once

#include "core/engine/blocks/cache_core.hpp"
#include "core/engine/blocks/cache_fixture.hpp"
#include "core/engine/cold/testing/cold.hpp"

namespace hbf::kv {

class ColdTierTest : public CacheTest {
protected:
    ColdTierTest() { std::filesystem::create_directory(scratch.log()); }

    // A block of 16 tokens is a granule; the log has segments of 1 MiB.
    CacheOptions logged(uint64_t hbm_blocks = 64, uint64_t hbf_blocks = 0, uint64_t megabytes = 16) {
        return logged_at(small(hbm_blocks, hbf_blocks), scratch.log(), megabytes);
    }
    static CacheOptions logged_at(CacheOptions options, const std::filesystem::path &root, uint64_t megabytes) {
        options.settings.cold_storage.path = root.string();
        options.settings.cold_storage.size_gb = static_cast<double>(megabytes << 20) * 1e-9;
        options.model.digest.bytes[0] = 7;
        options.name = "a model of tests";
        return options;
    }
    // The prompt and one token more, so that all of it can be taken over.
    static std::vector<uint32_t> and_one(std::vector<uint32_t> prompt) {
        prompt.push_back(4711);
        return prompt;
    }
    // A cache that sees `prompt`, and is closed.
    void leave_behind(const CacheOptions &options, std::span<const uint32_t> prompt, std::string_view tenant = {}) {
        KvCache cache = must(KvCache::open(options));
        Sequence sequence = must(cache.sequence({}, tenant));
        must(write(sequence, prompt));
    }
    std::vector<std::filesystem::path> segments() const {
        std::vector<std::filesystem::path> all;
        for (const auto &entry : std::filesystem::recursive_directory_iterator(scratch.log()))
            if (entry.path().filename().string().starts_with("segment-")) all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    }

    cold::testing::Scratch scratch;
};

} // namespace hbf::kv
