// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/engine/config/keys.hpp"
#include "hbf/kv.hpp"

namespace hbf::kv {
namespace {

namespace fs = std::filesystem;

class H3Toml : public ::testing::Test {
protected:
    H3Toml() : folder_(fs::temp_directory_path() / ("h3_config_" + std::to_string(getpid()))) {
        fs::create_directories(folder_ / "etc/hbf");
        fs::create_directories(folder_ / "user/hbf");
        setenv("XDG_CONFIG_HOME", (folder_ / "user").c_str(), 1);
    }
    ~H3Toml() override {
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("H3_KV_CHUNK_SIZE");
        unsetenv("H3_KV_CHUNKSIZE");
        fs::remove_all(folder_);
    }
    fs::path write(const std::string &name, const std::string &text) {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    ConfigSources sources(std::map<std::string, std::string> api = {}) { return {folder_, false, std::move(api)}; }
    std::string error_of(const std::string &text) {
        const auto loaded = load_settings_file(write("h3.toml", text));
        EXPECT_FALSE(loaded) << text;
        if (loaded) return {};
        EXPECT_EQ(loaded.error().code, Code::invalid);
        return loaded.error().message;
    }
    fs::path folder_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(H3Toml, EveryKeyHasItsStandardValueAndKeepsIt) {
    const auto loaded = load_settings(sources());
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto texts = config::texts(Settings{});
    ASSERT_EQ(texts.size(), config::table().size());
    for (size_t i = 0; i < texts.size(); ++i) {
        const auto &key = config::table()[i];
        EXPECT_EQ(texts[i], key.facts.standard) << key.facts.name << ": the table and the struct disagree";
        EXPECT_EQ(loaded->values.at(std::string(key.facts.name)).origin, Origin::built_in);
    }
    EXPECT_EQ(config::texts(loaded->settings), texts);
}

TEST_F(H3Toml, EveryKeyArrivesInItsOwnMember) {
    for (const auto &key : config::table()) {
        Settings changed;
        const std::string other = key.kind == config::Kind::word                                            ? "hnsw"
                                  : key.kind == config::Kind::folder                                        ? "/cold"
                                  : key.facts.name == "kv.chunk_align" || key.facts.name == "kv.chunk_size" ? "64"
                                  : key.facts.name == "hbf.compression_pca_dim"                             ? "256"
                                  : key.kind == config::Kind::whole                                         ? "7"
                                                                                                            : "0.25";
        ASSERT_EQ(config::assign(key, other, changed), "") << key.facts.name;
        const auto before = config::texts(Settings{}), after = config::texts(changed);
        for (size_t i = 0; i < after.size(); ++i)
            EXPECT_EQ(after[i], &config::table()[i] == &key ? other : before[i]) << key.facts.name;
    }
}

TEST_F(H3Toml, LaterSourcesWinAndSayWhereTheyAre) {
    write("etc/hbf/h3.toml", "[kv]\nchunk_size = 64\nprefetch_depth = 3\n[hbf]\nann_index_type = \"flat\"\n");
    write("user/hbf/h3.toml", "[kv]\nchunk_size = 48\n[scheduler]\nahas_alpha = 0.999\n");
    setenv("H3_KV_CHUNK_SIZE", "96", 1);
    setenv("H3_KV_CHUNKSIZE", "96", 1);
    auto loaded = load_settings(sources({{"kv.prefetch_aggressiveness", "0.5"}}));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->settings.kv.chunk_size, 96u);
    EXPECT_EQ(loaded->values["kv.chunk_size"].origin, Origin::environment);
    EXPECT_EQ(loaded->settings.kv.prefetch_depth, 3u);
    EXPECT_SAYS(loaded->values["kv.prefetch_depth"].where, "etc/hbf/h3.toml:3:1");
    EXPECT_EQ(loaded->settings.scheduler.ahas_alpha, 0.999);
    EXPECT_EQ(loaded->settings.hbf.ann_index_type, "flat");
    EXPECT_EQ(loaded->values["kv.prefetch_aggressiveness"].origin, Origin::api);
    ASSERT_EQ(loaded->notes.size(), 1u);
    EXPECT_SAYS(loaded->notes[0], "H3_KV_CHUNKSIZE is not known and has no effect (did you mean \"H3_KV_CHUNK_SIZE\"?)");
    auto privileged = sources();
    privileged.privileged = true;
    EXPECT_EQ(load_settings(privileged)->settings.kv.chunk_size, 64u) << "only the system file counts there";
}

TEST_F(H3Toml, MistakesAreNamedWithTheirPlace) {
    const std::string several = error_of("[kv]\nchunksize = 32\nchunk_size = 33.5\n[schedular]\nx = 1\n[hbf]\n"
                                         "ann_index_type = \"ivfpq\"\ncompression_pca_dim = 64\n");
    EXPECT_SAYS(several, "h3.toml:2:1: unknown key \"kv.chunksize\" (did you mean \"kv.chunk_size\"?)");
    EXPECT_SAYS(several, "h3.toml:3:14: kv.chunk_size: expected a whole number, found a number");
    EXPECT_SAYS(several, "unknown key \"schedular\"");
    EXPECT_SAYS(several, "(did you mean \"ivf_pq\"?)");
    EXPECT_SAYS(several, "hbf.compression_pca_dim: 64 is outside 128 to 4096");
    EXPECT_SAYS(error_of("[kv\n"), "h3.toml:1");
    EXPECT_SAYS(error_of("kv = 3\n"), "kv: expected a table");
    EXPECT_SAYS(error_of("[cold_storage]\npath = \"cold\"\n"), "\"cold\" is not an absolute path");
    EXPECT_SAYS(error_of("[hbm]\nsize_gb = \"lots\"\n"), "expected a number or \"auto\", found \"lots\"");
    EXPECT_EQ(load_settings_file(folder_ / "none.toml").error().code, Code::unavailable);
    EXPECT_SAYS(load_settings(sources({{"kv.chunk", "1"}})).error().message, "API: unknown key \"kv.chunk\"");
}

TEST_F(H3Toml, WhatWouldStandStillIsRefusedWithTheReason) {
    EXPECT_SAYS(error_of("[scheduler]\nhbm_threshold = 1.0\n"),
                "h3.toml:2:1: scheduler.hbm_threshold = 1: no block is ever");
    EXPECT_SAYS(error_of("[scheduler]\nhbf_threshold = 0.95\n"), "up and down at the same heat");
    EXPECT_SAYS(error_of("[scheduler]\ncold_threshold = 0.3\n"), "nothing could stay in HBF");
    EXPECT_SAYS(error_of("[scheduler]\nahas_alpha = 1\n"), "never decay");
    EXPECT_SAYS(error_of("[scheduler]\nahas_alpha = 0\n"), "forgotten at once");
    EXPECT_SAYS(error_of("[hbm]\nsize_gb = 0\n"), "hbm.size_gb = 0");
    EXPECT_SAYS(error_of("[kv]\nchunk_align = 24\n"), "multiples of 16");
    EXPECT_SAYS(error_of("[kv]\nchunk_size = 48\nchunk_align = 32\n"), "no multiple of kv.chunk_align = 32");
    EXPECT_SAYS(error_of("[kv]\nswap_threshold = 0\n"), "kv.swap_threshold = 0");
    Settings code;
    code.scheduler.hbm_threshold = 1;
    EXPECT_SAYS(check_settings(code).error().message, "no block is ever hotter");
    code.scheduler.hbm_threshold = 2;
    EXPECT_SAYS(check_settings(code).error().message, "scheduler.hbm_threshold: 2 is outside 0 to 1");
    EXPECT_TRUE(check_settings(Settings{}));
}

} // namespace
} // namespace hbf::kv
