// SPDX-License-Identifier: Apache-2.0
// The wrapper's own options: what is refused, and how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_refused(const std::string &fault, const ::testing::Matcher<std::string> &message) {
    const Wrapped device(fault);
    EXPECT_EQ(device.answer.status, HBF_INVALID) << fault;
    EXPECT_EQ(device.instance, nullptr);
    EXPECT_THAT(device.answer.message, message) << fault;
}

TEST(Options, AnUnknownFaultComesWithTheNearest) {
    expect_refused("drop-tial", AllOf(HasSubstr("\"drop-tial\""), HasSubstr("did you mean \"drop-tail\"")));
    expect_refused("flip;drop-tial", HasSubstr("\"drop-tail\""));
    expect_refused("quite another thing", HasSubstr("--inject help"));
}

TEST(Options, AnUnknownParameterComesWithTheNearest) {
    expect_refused("flip,afer=1", AllOf(HasSubstr("\"afer\""), HasSubstr("did you mean \"after\""), HasSubstr("flip")));
    expect_refused("flip,bytes=1", AllOf(HasSubstr("\"bytes\""), HasSubstr("it has")));
}

TEST(Options, BadValuesAreNamed) {
    expect_refused("flip,after=soon", AllOf(HasSubstr("after=\"soon\""), HasSubstr("whole number")));
    expect_refused("flip,after=-1", HasSubstr("whole number"));
    expect_refused("flip,after=18446744073709551616", HasSubstr("whole number"));
    expect_refused("flip,p=2", HasSubstr("probability from 0 to 1"));
    expect_refused("flip,p=nan", HasSubstr("probability from 0 to 1"));
    expect_refused("flip,after", HasSubstr("no value"));
    expect_refused("flip,after=1,after=2", HasSubstr("twice"));
    expect_refused("flip,rate=0", HasSubstr("never act"));
    expect_refused("flip,tier=", HasSubstr("tier"));
}

TEST(Options, AnUnknownTierIsNamedWithThoseThereAre) {
    expect_refused("flip,tier=dram9", AllOf(HasSubstr("\"dram9\""), HasSubstr("it has"), HasSubstr("hbf0")));
}

TEST(Options, AnUnknownKeyIsTheWrappersOrThePlugins) {
    const Wrapped own("", {{"inject.faults", "flip"}});
    EXPECT_EQ(own.answer.status, HBF_INVALID);
    EXPECT_THAT(own.answer.message, AllOf(HasSubstr("inject.faults"), HasSubstr("did you mean \"inject.fault\"")));
    const Wrapped inner("", {{"no_such_key", "1"}});
    EXPECT_EQ(inner.answer.status, HBF_INVALID);
    EXPECT_THAT(inner.answer.message, HasSubstr("plugin host"));
}

TEST(Options, ThePluginIsSaidByAnAbsolutePathThatLoads) {
    const Wrapped none("", {{"inject.plugin", ""}});
    EXPECT_EQ(none.answer.status, HBF_INVALID);
    EXPECT_THAT(none.answer.message, HasSubstr("inject.plugin is missing"));
    const Wrapped relative("", {{"inject.plugin", "hbf_plugin_host.so"}});
    EXPECT_EQ(relative.answer.status, HBF_INVALID);
    EXPECT_THAT(relative.answer.message, HasSubstr("absolute"));
    const Wrapped absent("", {{"inject.plugin", "/nowhere/plugin.so"}});
    EXPECT_EQ(absent.answer.status, HBF_UNAVAILABLE);
    EXPECT_THAT(absent.answer.message, HasSubstr("/nowhere/plugin.so"));
    const Wrapped other("", {{"inject.plugin", "/proc/self/exe"}});
    EXPECT_NE(other.answer.status, HBF_OK);
}

TEST(Options, AFaultInAWrapperInAWrapper) {
    const char *library = std::getenv("HBF_INJECT_LIBRARY");
    ASSERT_NE(library, nullptr);
    Wrapped device("", {{"inject.plugin", library},
                        {"inject.inner.plugin", host_plugin_path()},
                        {"inject.inner.fault", "drop-tail"},
                        {"dram_bytes", "64MiB"}});
    ASSERT_NE(device.instance, nullptr) << device.answer.message;
    const hbf_region_info dst = device.alloc(64);
    EXPECT_EQ(device.run(device.make_queue(), {fill(dst, 0, 64, 0x11)}).status, HBF_OK);
    EXPECT_EQ(bytes(dst)[62], 0x11);
    EXPECT_EQ(bytes(dst)[63], 0);
}

} // namespace
} // namespace hbf::inject::testing
