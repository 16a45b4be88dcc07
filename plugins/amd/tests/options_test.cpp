// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plugins/amd/options.hpp"

namespace hbf::amd {
namespace {

sdk::Failure refusal(const sdk::Options &options) {
    try {
        (void)parse_options(options);
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "it was not refused"};
}

TEST(AmdOptions, AreRead) {
    const AmdOptions options = parse_options({{"device", "MI300X"},
                                              {"hbm_bytes", "3MiB"},
                                              {"host_bytes", "1GiB"},
                                              {"cxl_bytes", "2MiB"},
                                              {"peer_bytes", "4MiB"},
                                              {"hbm_class", "uncached"},
                                              {"host_class", "coarse"},
                                              {"peers", "off"},
                                              {"cxl", "off"}});
    EXPECT_EQ(options.device, "MI300X");
    EXPECT_EQ(options.hbm_bytes, 2u << 20) << "whole pages of 2 MiB";
    EXPECT_EQ(options.host_bytes, 1u << 30);
    EXPECT_EQ(options.cxl_bytes, 2u << 20);
    EXPECT_EQ(options.peer_bytes, 4u << 20);
    EXPECT_EQ(options.hbm_class, CoherenceClass::uncached);
    EXPECT_EQ(options.host_class, CoherenceClass::coarse);
    EXPECT_FALSE(options.peers || options.cxl);
}

TEST(AmdOptions, DefaultsAreCoarseOnTheDeviceAndFineOnTheHost) {
    const AmdOptions options = parse_options({});
    EXPECT_EQ(options.hbm_class, CoherenceClass::coarse);
    EXPECT_EQ(options.host_class, CoherenceClass::fine);
    EXPECT_TRUE(options.peers && options.cxl);
}

TEST(AmdOptions, BadOnesAreRefusedByName) {
    for (const auto &[key, text] : sdk::Options{{"hbm_bytes", "1MiB"},
                                                {"host_bytes", "much"},
                                                {"hbm_class", "warm"},
                                                {"host_class", "uncached"},
                                                {"peers", "yes"},
                                                {"device", ""}}) {
        const sdk::Failure failure = refusal({{key, text}});
        EXPECT_EQ(failure.status, HBF_INVALID) << key;
        EXPECT_NE(failure.message.find("option " + key), std::string::npos) << failure.message;
    }
    EXPECT_NE(refusal({{"host_class", "uncached"}}).message.find("coarse, fine"), std::string::npos);
    const sdk::Failure unknown = refusal({{"hbm_byts", "4MiB"}});
    EXPECT_EQ(unknown.status, HBF_INVALID);
    EXPECT_NE(unknown.message.find("hbm_bytes"), std::string::npos) << unknown.message;
}

} // namespace
} // namespace hbf::amd
