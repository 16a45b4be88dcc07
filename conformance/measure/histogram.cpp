// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hbf::measure {

unsigned Histogram::bucket_of(uint64_t value) noexcept {
    if (value < (1u << sub_bits)) return static_cast<unsigned>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - sub_bits;
    return ((shift + 1) << sub_bits) + static_cast<unsigned>((value >> shift) & ((1u << sub_bits) - 1));
}

uint64_t Histogram::upper_edge(unsigned bucket) noexcept {
    if (bucket < (1u << sub_bits)) return bucket;
    const unsigned shift = (bucket >> sub_bits) - 1;
    const uint64_t low = (uint64_t{1} << sub_bits) + (bucket & ((1u << sub_bits) - 1));
    return (low << shift) + ((uint64_t{1} << shift) - 1);
}

void Histogram::record(uint64_t nanoseconds) noexcept {
    ++buckets_[bucket_of(nanoseconds)];
    ++count_;
    max_ = std::max(max_, nanoseconds);
}

uint64_t Histogram::quantile(double q) const noexcept {
    const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_))));
    uint64_t seen = 0;
    for (unsigned i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen >= wanted && count_ > 0) return std::min(upper_edge(i), max_);
    }
    return 0;
}

} // namespace hbf::measure
