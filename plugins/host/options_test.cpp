// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "options.hpp"

namespace hbf::host {
namespace {

sdk::Failure refusal(const sdk::Options &options) {
    try {
        parse_options(options, "");
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "taken"};
}

TEST(HostOptions, AllAreTaken) {
    HostOptions options = parse_options({{"storage_path", "/data/hbf"},
                                         {"storage_bytes", "500MB"},
                                         {"storage_overwrite", "yes"},
                                         {"dram_bytes", "8GiB"},
                                         {"hbf_bytes", "1.5GiB"},
                                         {"workers", "3"},
                                         {"direct", "off"},
                                         {"uring", "false"}},
                                        "/machine");
    EXPECT_EQ(options.storage.path, "/data/hbf");
    EXPECT_EQ(options.storage.capacity, 500000000u);
    EXPECT_TRUE(options.storage.overwrite);
    EXPECT_EQ(options.memory.dram_bytes, 8ull << 30);
    EXPECT_EQ(options.memory.hbf_bytes, 3ull << 29);
    EXPECT_EQ(options.workers, 3u);
    EXPECT_FALSE(options.storage.direct);
    EXPECT_FALSE(options.storage.uring);
    EXPECT_EQ(options.memory.system_root, "/machine");
    EXPECT_EQ(parse_options({}, "").memory.system_root, "/");
}

TEST(HostOptions, UnknownKeyComesWithTheNearest) {
    sdk::Failure failure = refusal({{"storage_pth", "/x"}});
    EXPECT_EQ(failure.status, HBF_INVALID);
    EXPECT_NE(failure.message.find("\"storage_pth\""), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("did you mean \"storage_path\""), std::string::npos) << failure.message;
}

TEST(HostOptions, WrongValuesNameKeyAndValue) {
    const std::pair<const char *, const char *> wrong[] = {{"direct", "maybe"},     {"direct", ""},
                                                           {"workers", "-1"},       {"workers", "many"},
                                                           {"workers", "99999"},    {"workers", ""},
                                                           {"storage_path", "rel"}, {"storage_path", ""},
                                                           {"dram_bytes", ""},      {"dram_bytes", "8 GiB"},
                                                           {"dram_bytes", "GiB"},   {"dram_bytes", "-1"},
                                                           {"dram_bytes", "8Gib"},  {"dram_bytes", "1.2.3GB"},
                                                           {"hbf_bytes", "0x10"}};
    for (auto [key, value] : wrong) {
        sdk::Failure failure = refusal({{key, value}});
        EXPECT_EQ(failure.status, HBF_INVALID) << key << "=" << value;
        EXPECT_NE(failure.message.find(key), std::string::npos) << failure.message;
        EXPECT_NE(failure.message.find("\"" + std::string(value) + "\""), std::string::npos) << failure.message;
    }
}

TEST(HostOptions, SizesAreExactAndDoNotWrap) {
    EXPECT_EQ(parse_size("k", "0"), 0u);
    EXPECT_EQ(parse_size("k", "4096"), 4096u);
    EXPECT_EQ(parse_size("k", "1kB"), 1000u);
    EXPECT_EQ(parse_size("k", "1KiB"), 1024u);
    EXPECT_EQ(parse_size("k", "18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_size("k", "16777215TiB"), 16777215ull << 40);
    for (const char *large : {"18446744073709551616", "16777216TiB", "99999999999999999999", "99999999.5TiB"})
        EXPECT_EQ(refusal({{"dram_bytes", large}}).status, HBF_INVALID) << large;
}

} // namespace
} // namespace hbf::host
