// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/engine/blocks/cache_fixture.hpp"
#include "hbf/kv.h"

extern "C" {
int32_t c_opens_with(uint64_t struct_size, const char *settings, char *text, uint64_t size);
int32_t c_drops_nothing(void);
}

// As the library's own files lay it out.
struct hbf_kv_cache {
    hbf::kv::KvCache cache;
};

namespace hbf::kv {
namespace {

TEST(KvInC, BadInputIsACodeAndASentence) {
    char text[256] = "?";
    EXPECT_EQ(c_opens_with(8, nullptr, text, sizeof text), HBF_INVALID);
    EXPECT_TRUE(contains(text, "struct_size is 8")) << text;
    EXPECT_EQ(c_opens_with(0, "/nowhere/h3.toml", text, sizeof text), HBF_UNAVAILABLE);
    EXPECT_TRUE(contains(text, "/nowhere/h3.toml")) << text;
    EXPECT_EQ(c_opens_with(0, "/nowhere/h3.toml", text, 5), HBF_UNAVAILABLE);
    EXPECT_EQ(std::string(text), "/now") << "cut, and ended";
    EXPECT_EQ(c_drops_nothing(), HBF_INVALID);
    EXPECT_EQ(hbf_kv_open(nullptr, nullptr, {text, sizeof text}), HBF_INVALID);
}

TEST_F(CacheTest, TheSameThroughC) {
    hbf_kv_cache cache{must(KvCache::open(small()))};
    char text[256] = "";
    const hbf_kv_message message{text, sizeof text};
    const auto all = tokens(1, 40);
    hbf_kv_sequence *sequence = nullptr, *fork = nullptr;
    ASSERT_EQ(hbf_kv_sequence_open(&cache, nullptr, 0, nullptr, &sequence, message), HBF_OK) << text;
    ASSERT_EQ(hbf_kv_append(sequence, all.data(), all.size(), message), HBF_OK) << text;
    for (uint32_t layer = 0; layer < 2; ++layer) {
        const auto keys = rows(all, 0, layer, true), values = rows(all, 0, layer, false);
        ASSERT_EQ(hbf_kv_put(sequence, layer, keys.data(), values.data(), keys.size() * 4, message), HBF_OK) << text;
        EXPECT_EQ(hbf_kv_put(sequence, layer, keys.data(), values.data(), 1, message), HBF_INVALID);
    }
    EXPECT_EQ(hbf_kv_tokens(sequence), 40u);
    ASSERT_EQ(hbf_kv_sequence_fork(sequence, &fork, message), HBF_OK) << text;
    hbf_kv_sequence_drop(sequence);
    uint64_t moved = 0;
    ASSERT_EQ(hbf_kv_move_to(fork, HBF_KV_HBF, &moved, message), HBF_OK) << text;
    EXPECT_EQ(moved, 4u);
    EXPECT_EQ(hbf_kv_move_to(fork, 3, &moved, message), HBF_INVALID);
    std::vector<float> keys(40 * row), values(40 * row), query(4 * dim, 1.0f), output(4 * dim);
    ASSERT_EQ(hbf_kv_read(fork, 1, 0, 40, keys.data(), values.data(), keys.size() * 4, message), HBF_OK) << text;
    EXPECT_EQ(keys, rows(all, 0, 1, true));
    EXPECT_EQ(values, rows(all, 0, 1, false));
    EXPECT_EQ(hbf_kv_attend(fork, 0, query.data(), output.data(), output.size(), message), HBF_OK) << text;
    EXPECT_EQ(hbf_kv_attend(fork, 0, query.data(), output.data(), 3, message), HBF_INVALID);
    EXPECT_EQ(hbf_kv_set_query_vector(fork, query.data(), query.size(), message), HBF_OK) << text;
    EXPECT_EQ(hbf_kv_set_query_vector(fork, query.data(), 7, message), HBF_INVALID);
    EXPECT_EQ(hbf_kv_set_query_vector(fork, nullptr, 7, message), HBF_INVALID);
    uint64_t pinned = 0;
    ASSERT_EQ(hbf_kv_pin(fork, UINT64_MAX, &pinned, message), HBF_OK) << text;
    EXPECT_EQ(pinned, 4u); // the two that are full, of two layers
    EXPECT_EQ(hbf_kv_pin(fork, 0, &pinned, message), HBF_INVALID);
    EXPECT_EQ(hbf_kv_truncate(fork, 3, message), HBF_OK);
    EXPECT_EQ(hbf_kv_truncate(fork, 4, message), HBF_INVALID);
    EXPECT_EQ(hbf_kv_tokens(fork), 3u);
    EXPECT_EQ(hbf_kv_save(&cache, nullptr, message), HBF_UNSUPPORTED);
    EXPECT_TRUE(contains(text, "cold_storage.path")) << text;
    EXPECT_EQ(hbf_kv_save(nullptr, nullptr, message), HBF_INVALID);
    hbf_kv_sequence_drop(fork);
}

} // namespace
} // namespace hbf::kv
