// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/bandwidth/profile.hpp"

namespace hbf::tools::bandwidth {
namespace {

const std::string good = R"({"profile":"node","source":"datasheet 12","date":"2026-01-31",
    "floors":[{"src":"hbm","dst":"hbm","gb_per_s":9.5},{"src":"dram0","dst":"dram0","gb_per_s":12}]})";

Place tier(const std::string &name, TierKind kind, const std::string &model = "a CPU") {
    Place out;
    out.model = model;
    out.tier.name = name;
    out.tier.kind = kind;
    return out;
}

std::string replaced(std::string text, const std::string &what, const std::string &with) {
    return text.replace(text.find(what), what.size(), with);
}

TEST(Profile, ANameComesBeforeAKind) {
    auto profile = parse_profile(good, "p.json");
    ASSERT_TRUE(profile) << profile.error();
    EXPECT_DOUBLE_EQ(profile->floor(tier("dram0", TierKind::hbm), tier("dram0", TierKind::hbm))->gbs, 12);
    EXPECT_DOUBLE_EQ(profile->floor(tier("dram1", TierKind::hbm), tier("dram1", TierKind::hbm))->gbs, 9.5);
    EXPECT_FALSE(profile->floor(tier("dram1", TierKind::hbm), tier("hbf0", TierKind::hbf)));
}

TEST(Profile, OfOneDeviceJudgesNoOther) {
    auto profile = parse_profile(replaced(good, "\"source\":", "\"device\":\"H100\",\"source\":"), "p.json");
    ASSERT_TRUE(profile) << profile.error();
    const auto ours = tier("hbm0", TierKind::hbm, "NVIDIA H100 80GB HBM3"), other = tier("hbm0", TierKind::hbm, "A100");
    EXPECT_TRUE(profile->floor(ours, ours));
    EXPECT_FALSE(profile->floor(other, other));
    EXPECT_FALSE(profile->floor(ours, other));
}

TEST(Profile, AFloorMayHaveASourceOfItsOwn) {
    auto profile = parse_profile(replaced(good, "\"gb_per_s\":12", "\"gb_per_s\":12,\"source\":\"table 7\""), "p.json");
    ASSERT_TRUE(profile) << profile.error();
    const auto dram = tier("dram0", TierKind::hbm), hbm = tier("hbm1", TierKind::hbm);
    EXPECT_EQ(profile->floor(dram, dram)->source, "table 7");
    EXPECT_EQ(profile->floor(hbm, hbm)->source, "datasheet 12");
}

TEST(Profile, ANameThatIsNoneIsAnswered) {
    auto profile = load_profile("nvidia-h200-sxx");
    ASSERT_FALSE(profile);
    EXPECT_NE(profile.error().find("no profile 'nvidia-h200-sxx'"), std::string::npos) << profile.error();
}

TEST(Profile, EachThatIsShippedCanBeRead) {
    const auto names = profile_names();
    EXPECT_GE(names.size(), 6u);
    for (const auto &name : names) EXPECT_TRUE(load_profile(name)) << name;
}

struct Bad {
    std::string text, expected;
};

TEST(Profile, BadOnesAreRefusedWithThePlace) {
    for (const auto &bad : {
             Bad{"", "p.json"},
             Bad{"[1,2]", "'profile'"},
             Bad{"{\"profile\": 3", "line 1, column"},
             Bad{replaced(good, "\"source\":\"datasheet 12\",", ""), "'source'"},
             Bad{replaced(good, "\"date\":\"2026-01-31\"", "\"date\":\"yesterday\""), "2026-01-31"},
             Bad{replaced(good, "\"source\"", "\"sorce\""), "did you mean \"source\""},
             Bad{replaced(good, "9.5", "-1"), "floors[0]: 'gb_per_s'"},
             Bad{replaced(good, "9.5", "\"fast\""), "floors[0]: 'gb_per_s'"},
             Bad{replaced(good, "\"src\":\"dram0\"", "\"from\":\"dram0\""), "floors[1]: unknown key 'from'"},
             Bad{R"({"profile":"a","source":"b","date":"2026-01-31","floors":[]})", "'floors'"},
             Bad{R"({"profile":"a","source":"b","date":"2026-01-31","floors":7})", "'floors'"},
             Bad{replaced(good, "\"source\"", "\"device\":\"\",\"source\""), "'device'"},
             Bad{replaced(good, "\"gb_per_s\":12", "\"gb_per_s\":12,\"source\":3"), "floors[1]: 'source'"},
         }) {
        auto profile = parse_profile(bad.text, "p.json");
        ASSERT_FALSE(profile) << bad.text;
        EXPECT_NE(profile.error().find(bad.expected), std::string::npos) << profile.error();
    }
}

TEST(Profile, AMissingFileIsNamed) {
    auto profile = load_profile("/nonexistent/p.json");
    ASSERT_FALSE(profile);
    EXPECT_NE(profile.error().find("'/nonexistent/p.json': No such file"), std::string::npos);
    EXPECT_FALSE(load_profile("/"));
    EXPECT_FALSE(load_profile("/dev/zero")); // endless
}

} // namespace
} // namespace hbf::tools::bandwidth
