// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/bandwidth/profile.hpp"

namespace hbf::tools::bandwidth {
namespace {

const std::string good = R"({"profile":"node","source":"datasheet 12","date":"2026-01-31",
    "floors":[{"src":"hbm","dst":"hbm","gb_per_s":9.5},{"src":"dram0","dst":"dram0","gb_per_s":12}]})";

TierInfo tier(const std::string &name, TierKind kind) {
    TierInfo out;
    out.name = name;
    out.kind = kind;
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
