// SPDX-License-Identifier: Apache-2.0
// What pattern_verify found, of all groups of a launch together.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/device/pattern_verify.h"

namespace hbf::kernels::device {

struct PatternFindings {
    uint64_t checked_words = 0; // 8-byte words: fewer than were asked for, and the kernel did not run as it should
    uint64_t wrong_words = 0;
    uint64_t first_offset = ~uint64_t{0};  // bytes from the start of the range, of the first wrong word; all ones: none
    uint64_t expected = 0, actual = 0;     // of that word
    std::array<uint64_t, 64> up{}, down{}; // wrong bits by place in the word: read as 1, as 0
};

// `results`: one a group, in any order. Memory for them is cleared before the launch, so that groups that never ran are
// missing in checked_words.
inline PatternFindings pattern_findings(std::span<const pattern_verify_result> results) {
    PatternFindings all;
    for (const auto &one : results) {
        all.checked_words += one.checked_words, all.wrong_words += one.wrong_words;
        for (size_t bit = 0; bit < 64; ++bit) all.up[bit] += one.up[bit], all.down[bit] += one.down[bit];
        if (one.wrong_words == 0 || one.first_offset >= all.first_offset) continue;
        all.first_offset = one.first_offset, all.expected = one.expected, all.actual = one.actual;
    }
    return all;
}

} // namespace hbf::kernels::device
