// SPDX-License-Identifier: Apache-2.0
// The catalogue, and the twins that write and verify test data against the host's own.
#include <vector>

#include "kernels/device/launch_test.hpp"
#include "kernels/device/pattern_fill.h"
#include "kernels/device/pattern_findings.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::kernels::device {
namespace {

using testing::launch, testing::of, testing::Shape, testing::shapes;

PatternFindings verify(std::vector<uint64_t> &words, const pattern_arguments &arguments, Shape shape) {
    std::vector<pattern_verify_result> results(shape.groups);
    launch("pattern_verify/1", {of(words), of(results)}, &arguments, shape);
    return pattern_findings(results);
}

TEST(Catalogue, NamesAreFoundAndSourcesAreWhole) {
    ASSERT_FALSE(catalogue().empty());
    for (const auto &kernel : catalogue()) {
        EXPECT_EQ(find(kernel.name), &kernel);
        EXPECT_EQ(kernel.name.substr(0, kernel.name.find('/')), kernel.function);
        EXPECT_EQ(kernel.source.find("#include \"portable.h\""), std::string_view::npos) << kernel.name;
        EXPECT_NE(kernel.source.find("HBF_ENTRY"), std::string_view::npos) << kernel.name;
        EXPECT_EQ(kernel.source.data()[kernel.source.size()], '\0');
        EXPECT_EQ(kernel.source.find('\0'), std::string_view::npos);
    }
    EXPECT_EQ(find("copy"), nullptr);
    EXPECT_EQ(find("copy/2"), nullptr);
}

TEST(Twin, FillIsTheHostsPattern) {
    for (const Shape shape : shapes)
        for (const uint64_t address : {uint64_t{0}, uint64_t{4096} + 8, (uint64_t{1} << 34) - 400}) {
            std::vector<uint64_t> ours(1000, 7), hosts(1000, 7);
            const pattern_arguments arguments{address, 8 * 999, 0, 1, 11, 12};
            launch("pattern_fill/1", {of(ours)}, &arguments, shape);
            pattern_fill(hosts.data(), 8 * 999, PatternKey{11, 12, true}, address);
            ASSERT_EQ(ours, hosts) << shape.groups << " groups of " << shape.size;
        }
}

TEST(Twin, VerifyFindsWhatFillDidNotWrite) {
    for (const Shape shape : shapes)
        for (uint32_t pattern = 0; pattern < HBF_PATTERN_COUNT; ++pattern) {
            std::vector<uint64_t> words(1000);
            const pattern_arguments arguments{640, 8 * words.size(), pattern, 0, 3, 4};
            launch("pattern_fill/1", {of(words)}, &arguments, shape);
            auto found = verify(words, arguments, shape);
            ASSERT_EQ(found.checked_words, words.size());
            ASSERT_EQ(found.wrong_words, 0u) << pattern;
            // Modulo 20 judges lines 6 + 20 n here: 8 n words from word 48.
            const uint64_t right = words[48];
            words[48] ^= uint64_t{1} << 63 | 1, words[49] ^= 1;
            found = verify(words, arguments, shape);
            ASSERT_EQ(found.checked_words, words.size());
            ASSERT_EQ(found.wrong_words, 2u) << pattern;
            ASSERT_EQ(found.first_offset, 8 * 48u);
            ASSERT_EQ(found.expected, right);
            ASSERT_EQ(found.actual, words[48]);
            ASSERT_EQ(found.up[0] + found.down[0], 2u);
            ASSERT_EQ(found.up[63] + found.down[63], 1u);
            ASSERT_EQ(found.up[63], words[48] >> 63);
        }
}

TEST(Twin, APatternThatIsNoneChecksNothing) {
    std::vector<uint64_t> words(100, 5);
    const pattern_arguments arguments{0, 800, HBF_PATTERN_COUNT, 0, 0, 0};
    launch("pattern_fill/1", {of(words)}, &arguments, {2, 8});
    EXPECT_EQ(words, std::vector<uint64_t>(100, 5));
    EXPECT_EQ(verify(words, arguments, {2, 8}).checked_words, 0u);
}

} // namespace
} // namespace hbf::kernels::device
