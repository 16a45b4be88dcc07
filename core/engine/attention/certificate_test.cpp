// SPDX-License-Identifier: Apache-2.0
// What a certificate says of numbers made up by hand; selective_test.cpp holds it against fp64.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/engine/attention/certificate.hpp"

namespace hbf::kv {
namespace {

TEST(CertificateTest, FollowsItsFormula) {
    const Certificate quarter = certify({1.0 / 3, 2, 2, 1, 0, 128});
    EXPECT_NEAR(quarter.missed, 0.25, 1e-3);
    EXPECT_GT(quarter.missed, 0.25) << "what is rounded counts against us";
    EXPECT_NEAR(quarter.error, 0.25 * 3, 1e-3);
    EXPECT_GT(quarter.error, 0.75);
}

TEST(CertificateTest, NothingLeftOutIsRoundingOnly) {
    const Certificate all = certify({0, 0, 4, 1, 1e-5, 128});
    EXPECT_EQ(all.missed, 0);
    EXPECT_GT(all.error, 2 * 4 * 2e-5);
    EXPECT_LT(all.error, 2e-3);
}

TEST(CertificateTest, WhatIsNotKnownIsNotPromised) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const Attended &odd : {Attended{infinity, 1, 1, 1, 0, 16}, Attended{std::nan(""), 1, 1, 1, 0, 16},
                                Attended{0.1, infinity, infinity, 1, 0, 16}, Attended{0.1, 1, 1, std::nan(""), 0, 16},
                                Attended{0.1, 1, 1, 1, infinity, 16}, Attended{0.1, 1, 1, 1, 0.3, 16}}) {
        const Certificate certificate = certify(odd);
        EXPECT_EQ(certificate.missed, 1);
        EXPECT_EQ(certificate.error, infinity);
    }
}

} // namespace
} // namespace hbf::kv
