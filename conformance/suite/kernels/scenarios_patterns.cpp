// SPDX-License-Identifier: Apache-2.0
// Scenarios of the kernels that write and verify test data: every pattern, and wrong bits in each.
#include "conformance/suite/kernels/scenario.hpp"
#include "kernels/device/catalogue.hpp"
#include "kernels/device/pattern_fill.h"
#include "kernels/device/pattern_verify.h"

namespace hbf::conformance::scenario {
namespace {

using namespace kernels::device;

// Where the upper half of the hash's counter changes, in the middle of a buffer.
constexpr uint64_t window = uint64_t{1} << 34, size = 2048;

pattern_arguments arguments_of(uint64_t seed, uint32_t pattern, uint32_t pass) {
    return {pass % 2 ? window - size / 2 : 4096, size, pattern, pass, static_cast<uint32_t>(seed), pass + 1};
}

std::string name_of(const pattern_arguments &arguments) {
    return fmt::format("pattern {}, pass {}, from {:#x}", arguments.pattern, arguments.pass, arguments.address);
}

void fill(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    for (uint32_t pattern = 0; pattern <= HBF_PATTERN_COUNT; ++pattern) // the last there is not
        for (uint32_t pass = 0; pass < 4; ++pass) {
            const pattern_arguments arguments = arguments_of(seed, pattern, pass);
            out.push_back({"",
                           name_of(arguments),
                           {{random_bytes(seed, size), HBF_KERNEL_WRITES}},
                           bytes_of(arguments),
                           {1 + pass, 1, 1},
                           {std::min(most, usual_items), 1, 1}});
        }
}

// Right but for what `wrong` words lack.
std::vector<std::byte> filled(const pattern_arguments &arguments, uint64_t seed, unsigned wrong) {
    std::vector<std::byte> bytes(size);
    const TwinBuffer buffer{bytes.data(), size};
    constexpr uint32_t one[] = {1, 1, 1};
    run(*find("pattern_fill/1"), &buffer, &arguments, one, one);
    Random random(seed + arguments.pattern);
    for (unsigned i = 0; i < wrong; ++i) bytes[random.below(size)] ^= std::byte(1 + random.below(255));
    return bytes;
}

void verify(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    // Groups that are counted through in each dimension: the results tell how many ran, and with which number.
    const std::array<uint32_t, 3> groups[] = {{1, 1, 1}, {3, 1, 1}, {2, 3, 2}, {1, 1, 5}};
    const std::array<uint32_t, 3> items[] = {{std::min(most, usual_items), 1, 1}, {4, 2, 3}};
    for (uint32_t pattern = 0; pattern <= HBF_PATTERN_COUNT; ++pattern)
        for (uint32_t pass = 0; pass < 4; ++pass) {
            const pattern_arguments arguments = arguments_of(seed, pattern, pass);
            const auto &shape = groups[pass];
            const auto &group = items[(pass + pattern) % 2];
            if (uint64_t{group[0]} * group[1] * group[2] > most) continue;
            const uint64_t results = uint64_t{shape[0]} * shape[1] * shape[2] * sizeof(pattern_verify_result);
            out.push_back({"",
                           name_of(arguments),
                           {{filled(arguments, seed, pass == 0 ? 0 : 5 * pass), HBF_KERNEL_READS},
                            {random_bytes(seed, results), HBF_KERNEL_WRITES}},
                           bytes_of(arguments),
                           shape,
                           group});
        }
}

} // namespace

void patterns(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items) {
    if (kernel == "pattern_fill/1") fill(out, seed, most_items);
    if (kernel == "pattern_verify/1") verify(out, seed, most_items);
}

} // namespace hbf::conformance::scenario
