// SPDX-License-Identifier: Apache-2.0
// Scenarios of the kernels that go through plain memory: copies, triad, checksums, chains.
#include "conformance/suite/kernels/scenario.hpp"
#include "kernels/device/chase.h"
#include "kernels/device/copy.h"
#include "kernels/device/crc32c.h"
#include "kernels/device/triad.h"

namespace hbf::conformance::scenario {
namespace {

using namespace kernels::device;
constexpr uint32_t reads = HBF_KERNEL_READS, writes = HBF_KERNEL_WRITES;

std::vector<std::byte> text(uint64_t seed, uint64_t size) {
    return random_bytes(seed, (size + 7) / 8 * 8);
}

void copies(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    for (const uint64_t size : {1, 8, 1000, 4099})
        out.push_back({"",
                       fmt::format("{} bytes", size),
                       {{text(seed, size), reads}, {text(seed + 1, size), writes}},
                       bytes_of(copy_arguments{size}),
                       {3, 1, 1},
                       {std::min(most, usual_items), 1, 1}});
}

void triads(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    for (const uint64_t size : {8, 4096 + 8})
        out.push_back({"",
                       fmt::format("{} bytes", size),
                       {{text(seed, size), writes}, {text(seed + 1, size), reads}, {text(seed + 2, size), reads}},
                       bytes_of(triad_arguments{size, 0x80000003u, 0}),
                       {2, 2, 1},
                       {std::min(most, usual_items), 1, 1}});
}

void checksums(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    for (const uint64_t size : {0, 1, 7, 4096, 65536, 2 * 65536 + 77}) // groups: fewer than pieces, and more
        for (const uint32_t items : {usual_items, 31u}) {
            if (items > most) continue;
            const uint64_t pieces = (size + HBF_CRC32C_PIECE - 1) / HBF_CRC32C_PIECE;
            out.push_back({"",
                           fmt::format("{} bytes, groups of {}", size, items),
                           {{text(seed, size + 8), reads}, {text(seed + 1, 4 * pieces + 4), writes}},
                           bytes_of(crc32c_arguments{size}),
                           {2, 1, 1},
                           {items, 1, 1}});
        }
}

// Chains through all words in a random order, one that ends nowhere among them.
void chains(std::vector<Scenario> &out, uint64_t seed, uint32_t most) {
    constexpr uint64_t words = 512, count = 5;
    Random random(seed);
    std::vector<uint64_t> order(words), links(words);
    for (uint64_t i = 0; i < words; ++i) order[i] = i;
    for (uint64_t i = words - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (uint64_t i = 0; i < words; ++i) links[order[i]] = 8 * order[(i + 1) % words];
    links[order[words / 2]] = 8 * words + 4;
    std::vector<std::byte> bytes(8 * words);
    std::memcpy(bytes.data(), links.data(), bytes.size());
    for (const uint64_t steps : {0, 1, 1000})
        out.push_back({"",
                       fmt::format("{} steps", steps),
                       {{bytes, reads}, {text(seed, count * sizeof(chase_result)), writes}},
                       bytes_of(chase_arguments{8 * words, 16, 8, steps, count}),
                       {1, 1, 2},
                       {std::min(most, usual_items), 1, 1}});
}

} // namespace

void memory(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items) {
    if (kernel == "copy/1") copies(out, seed, most_items);
    if (kernel == "triad/1") triads(out, seed, most_items);
    if (kernel == "crc32c/1") checksums(out, seed, most_items);
    if (kernel == "chase/1") chains(out, seed, most_items);
}

} // namespace hbf::conformance::scenario
