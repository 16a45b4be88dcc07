// SPDX-License-Identifier: Apache-2.0
// Times of single operations in fixed memory, two significant digits: recording one allocates nothing.
#pragma once

#include <array>
#include <cstdint>

namespace hbf::measure {

class Histogram {
public:
    void record(uint64_t nanoseconds) noexcept;
    uint64_t count() const noexcept { return count_; }
    uint64_t max() const noexcept { return max_; }
    // Upper edge of the bucket that holds the q-quantile (0..1), at most max(); 0 if nothing was recorded.
    uint64_t quantile(double q) const noexcept;

private:
    // 64 buckets for each power of two from 64 on: at most 1.6 % wide. Below 64: exact.
    static constexpr unsigned sub_bits = 6;
    static unsigned bucket_of(uint64_t value) noexcept;
    static uint64_t upper_edge(unsigned bucket) noexcept;

    std::array<uint32_t, (64 - sub_bits + 1) << sub_bits> buckets_{};
    uint64_t count_ = 0, max_ = 0;
};

} // namespace hbf::measure
