// SPDX-License-Identifier: Apache-2.0
// The entry point: pure, negotiates, and opening the library changes nothing anyone can see.
#include <cstring>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

TEST(Load, StaticConstructorsChangeNothingVisible) {
    const Loaded &opened = loaded();
    EXPECT_EQ(opened.before.threads, opened.after.threads);
    EXPECT_EQ(opened.before.files, opened.after.files);
    EXPECT_EQ(opened.before.environment, opened.after.environment);
    EXPECT_TRUE(opened.before == opened.after);
    EXPECT_EQ(opened.printed, "");
}

TEST(Query, IsPureAndRepeatable) {
    const hbf_host_info host = host_info();
    const hbf_plugin *first = loaded().query(HBF_ABI_VERSION, &host);
    ASSERT_NE(first, nullptr);
    const hbf_plugin copy = *first;
    const Visible before = look();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(loaded().query(HBF_ABI_VERSION, &host), first);
    EXPECT_TRUE(look() == before);
    EXPECT_EQ(std::memcmp(&copy, first, sizeof copy), 0);
}

TEST(Query, AnswersOnlyInsideTheHostsRange) {
    const auto ask = [](uint32_t min, uint32_t max) {
        hbf_host_info host = host_info();
        host.abi_min = min;
        return loaded().query(max, &host);
    };
    EXPECT_NE(ask(HBF_ABI_VERSION, HBF_ABI_VERSION), nullptr);
    EXPECT_NE(ask(HBF_ABI_MAKE(0, 0), HBF_ABI_MAKE(1, 7)), nullptr);
    EXPECT_EQ(ask(HBF_ABI_MAKE(0, 0), HBF_ABI_MAKE(0, 0)), nullptr) << "a host that is too old";
    const uint32_t newest = ask(0, UINT32_MAX)->abi_version; // of the headers the plugin was built with
    EXPECT_EQ(ask(newest + 1, HBF_ABI_MAKE(1, 0)), nullptr) << "a host that no longer serves this version";
    EXPECT_EQ(ask(HBF_ABI_VERSION, HBF_ABI_VERSION)->abi_version, HBF_ABI_VERSION) << "the newest that both know";
    EXPECT_EQ(ask(0, 0), nullptr);
    EXPECT_EQ(ask(UINT32_MAX, UINT32_MAX), nullptr);
}

TEST(Query, ReadsTheHostsStructWithinItsSize) {
    AtPageEnd<hbf_host_info> host(HBF_HOST_INFO_MIN_SIZE);
    host->abi_min = HBF_ABI_VERSION;
    EXPECT_NE(loaded().query(HBF_ABI_VERSION, host.get()), nullptr);

    AtPageEnd<hbf_host_info> short_host(HBF_HOST_INFO_MIN_SIZE - 8);
    EXPECT_EQ(loaded().query(HBF_ABI_VERSION, short_host.get()), nullptr);
    EXPECT_EQ(loaded().query(HBF_ABI_VERSION, nullptr), nullptr);

    WithTail<hbf_host_info> later;
    later.known.abi_min = HBF_ABI_VERSION;
    EXPECT_NE(loaded().query(HBF_ABI_VERSION, &later.known), nullptr);
}

TEST(Query, TableStatesItsFacts) {
    const hbf_plugin &table = plugin();
    EXPECT_GE(table.struct_size, HBF_PLUGIN_MIN_SIZE);
    EXPECT_EQ(table.abi_version, HBF_ABI_VERSION);
    EXPECT_STREQ(table.name, "sdk_test");
    EXPECT_STREQ(table.vendor, "HBF");
    EXPECT_STREQ(table.version, "1.2.3");
    EXPECT_STREQ(table.build_id, "");
    const std::string compiler = table.compiler;
    EXPECT_TRUE(compiler.starts_with("g++ ") || compiler.starts_with("clang++ ")) << compiler;
    EXPECT_EQ(table.flags, 0u);
    ASSERT_NE(table.probe, nullptr);
    ASSERT_NE(table.create, nullptr);
    ASSERT_NE(table.destroy, nullptr);
    ASSERT_NE(table.get_extension, nullptr);
}

TEST(Query, TableStatesTheSanitizerOfTheBuild) {
#if defined(__SANITIZE_ADDRESS__)
    EXPECT_EQ(plugin().sanitizer, HBF_SANITIZER_ADDRESS);
#elif defined(__SANITIZE_THREAD__)
    EXPECT_EQ(plugin().sanitizer, HBF_SANITIZER_THREAD);
#elif defined(__GNUC__) && !defined(__clang__)
    EXPECT_EQ(plugin().sanitizer, HBF_SANITIZER_NONE);
#else
    GTEST_SKIP() << "this compiler does not say by a macro what it builds";
#endif
}

} // namespace
} // namespace sdk_test
