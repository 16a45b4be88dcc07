// SPDX-License-Identifier: Apache-2.0
// The simulated device, opened as a plugin; a call that must succeed and does not fails the test by its Verdict.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::sim {

using namespace conformance;
using OptionList = std::vector<std::pair<std::string, std::string>>;

constexpr uint32_t vram = 0, coherent = 1, cold = 2; // tiers

struct Device : Subject {
    explicit Device(OptionList options = {}) : Subject({std::getenv("HBF_SIM_PLUGIN"), "", std::move(options)}) {}
    Instance *operator->() { return &instance(); }
};

inline std::byte *bytes_of(const hbf_region_info &region) {
    return static_cast<std::byte *>(region.address);
}
inline uint64_t word_at(const hbf_region_info &region, uint64_t offset = 0) {
    uint64_t word = 0;
    std::memcpy(&word, bytes_of(region) + offset, sizeof word);
    return word;
}
inline void put_word(const hbf_region_info &region, uint64_t word, uint64_t offset = 0) {
    std::memcpy(bytes_of(region) + offset, &word, sizeof word);
}

} // namespace hbf::sim
