// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hbf/sdk/text.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/options.hpp"

namespace hbf::opencl {
namespace {

using testing::HasSubstr;

template <class Call>
sdk::Failure failure_of(Call &&call) {
    try {
        call();
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "nothing failed"};
}

TEST(OpenClOptions, EachIsRead) {
    const OpenClOptions options = parse_options(
        {{"platform", "pocl"}, {"device", "0"}, {"device_bytes", "16MiB"}, {"mapped_bytes", "8MiB"}, {"svm_bytes", "4MiB"}});
    EXPECT_EQ(options.platform, "pocl");
    EXPECT_EQ(options.device, "0");
    EXPECT_EQ(options.device_bytes, 16u << 20);
    EXPECT_EQ(options.mapped_bytes, 8u << 20);
    EXPECT_EQ(options.svm_bytes, 4u << 20);
}

TEST(OpenClOptions, BadOnesAreRefused) {
    for (const auto &[key, value, words] : std::initializer_list<std::tuple<const char *, const char *, const char *>>{
             {"device_byte", "1MiB", "did you mean \"device_bytes\"?"},
             {"device_bytes", "lots", "lots"},
             {"mapped_bytes", "4096", "1 MiB or more"},
             {"platform", "", "a part of a name"}}) {
        const sdk::Failure failure = failure_of([&] { parse_options({{key, value}}); });
        EXPECT_EQ(failure.status, HBF_INVALID);
        EXPECT_THAT(failure.message, HasSubstr(words));
        EXPECT_THAT(failure.message, HasSubstr(key));
    }
}

Survey two_platforms() {
    Survey survey;
    for (const auto &[platform, device, name, id] :
         std::initializer_list<std::tuple<uint32_t, uint32_t, const char *, const char *>>{
             {0, 0, "Acme", "acme-0"}, {0, 1, "Acme", "acme-1"}, {1, 0, "Portable", "portable-0"}}) {
        Found found;
        found.platform = platform;
        found.device = device;
        sdk::set_text(found.platform_name, name);
        sdk::set_text(found.info.id, id);
        sdk::set_text(found.info.name, std::string(name) + " card");
        survey.devices.push_back(found);
    }
    return survey;
}

TEST(OpenClSelect, ByNameOrIndexOfPlatformAndDevice) {
    const Survey all = two_platforms();
    const auto count = [&](const sdk::Options &options) { return select(all, options).size(); };
    EXPECT_EQ(count({}), 3u);
    EXPECT_EQ(count({{"platform", "ACM"}}), 2u);
    EXPECT_EQ(count({{"platform", "1"}}), 1u);
    EXPECT_EQ(count({{"device", "0"}}), 2u);
    EXPECT_EQ(count({{"device", "card"}, {"platform", "acme"}}), 2u);
    EXPECT_STREQ(select(all, {{"device", "acme-1"}})[0].info.id, "acme-1");
}

TEST(OpenClSelect, WhatFitsNothingNamesWhatThereIs) {
    const sdk::Failure failure = failure_of([] { select(two_platforms(), {{"platform", "other"}}); });
    EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
    EXPECT_THAT(failure.message, HasSubstr("no_device: option platform = \"other\" fits none of"));
    EXPECT_THAT(failure.message, HasSubstr("\"Portable\""));
}

TEST(OpenClErrors, HaveNamesAndCauses) {
    EXPECT_EQ(error_text(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
    EXPECT_EQ(error_text(-9999), "an unknown error (-9999)");
    EXPECT_EQ(error_status(CL_SUCCESS), HBF_OK);
    EXPECT_EQ(error_status(CL_MEM_OBJECT_ALLOCATION_FAILURE), HBF_EXHAUSTED);
    EXPECT_EQ(error_status(CL_DEVICE_NOT_AVAILABLE), HBF_DEVICE_LOST);
    EXPECT_EQ(error_status(CL_INVALID_VALUE), HBF_INTERNAL);
    EXPECT_EQ(failure_of([] { check(CL_MAP_FAILURE, "a map"); }).message, "a map: CL_MAP_FAILURE (-12)");
}

} // namespace
} // namespace hbf::opencl
