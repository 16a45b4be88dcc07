// SPDX-License-Identifier: Apache-2.0
// The device kernels' test data is this library's, word for word: whoever wrote it, the other can judge it.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/integrity/pattern.hpp"
#include "kernels/device/catalogue.hpp"
#include "kernels/device/pattern_findings.hpp"

namespace hbf::integrity {
namespace {

namespace device = kernels::device;

constexpr uint32_t groups[3] = {3, 1, 1}, size[3] = {32, 1, 1};
constexpr uint64_t bytes = 20000;

class DevicePattern : public ::testing::TestWithParam<PatternInfo> {};
INSTANTIATE_TEST_SUITE_P(Each, DevicePattern, ::testing::ValuesIn(patterns().begin(), patterns().end()),
                         [](const auto &pattern) { return std::string(pattern.param.name); });

TEST_P(DevicePattern, IsTheHosts) {
    for (uint32_t pass = 0; pass < GetParam().passes; ++pass)
        for (const uint32_t generation : {0u, 1u, 7u, 0xffffffffu})
            for (const uint64_t address : {uint64_t{0}, uint64_t{8200}, (uint64_t{1} << 34) - 4096}) {
                const Datum datum{GetParam().pattern, pass, 0x12345u, generation};
                const device::pattern_arguments arguments{address, bytes,      static_cast<uint32_t>(datum.pattern),
                                                          pass,    datum.seed, generation};
                std::vector<uint64_t> there(bytes / 8), here(bytes / 8);
                const device::TwinBuffer buffer{there.data(), bytes};
                device::run(*device::find("pattern_fill/1"), &buffer, &arguments, groups, size);
                generate(datum, here.data(), bytes, address);
                ASSERT_EQ(there, here) << "pass " << pass << ", generation " << generation << ", from " << address;

                // What each finds wrong, and what modulo 20 does not judge.
                for (size_t i = 0; i < here.size(); i += 13) here[i] ^= uint64_t{1} << i % 64;
                uint64_t first = ~uint64_t{0};
                const uint64_t wrong = compare(datum, here.data(), bytes, address, [&](const WrongWord &word) {
                    first = std::min(first, word.address - address);
                });
                std::vector<device::pattern_verify_result> results(groups[0]);
                const device::TwinBuffer buffers[] = {{here.data(), bytes}, {results.data(), sizeof results[0] * 3}};
                device::run(*device::find("pattern_verify/1"), buffers, &arguments, groups, size);
                const auto findings = device::pattern_findings(results);
                ASSERT_EQ(findings.checked_words, bytes / 8);
                ASSERT_EQ(findings.wrong_words, wrong);
                ASSERT_EQ(findings.first_offset, first);
            }
}

} // namespace
} // namespace hbf::integrity
