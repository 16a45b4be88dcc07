// SPDX-License-Identifier: Apache-2.0
// What can be judged without a runtime.
#include <cstring>

#include <gtest/gtest.h>

#include "hbf/sdk/text.hpp"
#include "plugins/amd/discovery.hpp"

namespace hbf::amd {
namespace {

template <class Call>
sdk::Failure refusal(const Call &call) {
    try {
        call();
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "it was not refused"};
}

TEST(PciAddress, IsWrittenAsSysfsWritesIt) {
    EXPECT_EQ(normal_pci_address("0000:C1:00.0"), "0000:c1:00.0");
    EXPECT_EQ(normal_pci_address("10000:01:1f.7"), "10000:01:1f.7");
    for (const char *bad : {"", "C1:00.0", "0000:c1:00", "0000:c1:00.8", "0000:1c1:00.0", "0000:c1:20.0", "0000:c1:00.0 x"})
        EXPECT_EQ(normal_pci_address(bad), "") << bad;
}

Library named(const char *name, int major) {
    Library library;
    library.name = name;
    library.major = major;
    return library;
}

TEST(Version, IsReadAsHipWritesIt) {
    EXPECT_EQ(version_text(50221153), "5.2.21153");
    EXPECT_EQ(version_text(60342134), "6.3.42134");
    EXPECT_EQ(version_text(-7), "-7");
}

TEST(Version, OfFiveTwoToSevenIsTaken) {
    check_version(50200000, named("libamdhip64.so.5", 5));
    check_version(60342134, named("libamdhip64.so.6", 6));
    check_version(70000000, named("libamdhip64.so.7", 7));
    check_version(60342134, named("libamdhip64.so", 0));
}

TEST(Version, OldOnesNonsenseAndMixturesAreRefusedWithTheirReason) {
    const auto why = [](int version, const Library &from) { return refusal([&] { check_version(version, from); }); };
    EXPECT_EQ(why(50100000, named("libamdhip64.so.5", 5)).message.rfind("driver_too_old:", 0), 0u);
    EXPECT_EQ(why(50100000, named("libamdhip64.so.5", 5)).status, HBF_UNSUPPORTED);
    for (const int nonsense : {-1, 0, 2147483647}) {
        const sdk::Failure failure = why(nonsense, named("libamdhip64.so.6", 6));
        EXPECT_NE(failure.message.find("no version"), std::string::npos) << failure.message;
        EXPECT_NE(failure.message.find(std::to_string(nonsense)), std::string::npos) << failure.message;
    }
    const sdk::Failure mixed = why(50221153, named("libamdhip64.so.6", 6));
    EXPECT_EQ(mixed.status, HBF_UNAVAILABLE);
    EXPECT_NE(mixed.message.find("mixed"), std::string::npos) << mixed.message;
}

Survey two() {
    Survey all;
    for (int i = 0; i < 2; ++i) {
        Found found;
        found.ordinal = i;
        sdk::set_text(found.info.id, i == 0 ? "gpu-0000:c1:00.0" : "gpu-0000:c2:00.0");
        sdk::set_text(found.info.name, i == 0 ? "AMD Instinct MI300X" : "AMD Instinct MI210");
        all.devices.push_back(found);
    }
    return all;
}

TEST(Select, TakesAnIndexOrAPartOfAName) {
    EXPECT_EQ(select(two(), "").size(), 2u);
    ASSERT_EQ(select(two(), "1").size(), 1u);
    EXPECT_EQ(select(two(), "1")[0].ordinal, 1);
    ASSERT_EQ(select(two(), "mi300").size(), 1u);
    EXPECT_EQ(select(two(), "mi300")[0].ordinal, 0);
    EXPECT_EQ(select(two(), "C2:00")[0].ordinal, 1);
    const sdk::Failure none = refusal([] { (void)select(two(), "w7900"); });
    EXPECT_EQ(none.status, HBF_UNAVAILABLE);
    EXPECT_NE(none.message.find("MI210"), std::string::npos) << none.message;
}

} // namespace
} // namespace hbf::amd
