// SPDX-License-Identifier: Apache-2.0
// Where the words of many instances lie: in ranges of mapped memory (one or more tiers), placed by the configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/litmus/config.hpp"

namespace hbf::litmus {

// Ranges of one size, each at least smallest_range and aligned to 64 bytes; the caller's.
struct Arena {
    static constexpr uint64_t smallest_range = 3 * 65536;
    std::vector<std::span<std::byte>> ranges;
};

// The words of a batch. Instances are permuted per location, so that neighbours in time are none in memory.
class Placement {
public:
    Placement(const Arena &arena, const Config &config, uint32_t most_instances);
    uint32_t instances() const { return mask_ + 1; } // of a batch, a power of two
    Word *word(unsigned location, uint32_t instance) const {
        const Place &place = places_[location];
        const uint32_t slot = (instance * place.factor + place.offset) & mask_;
        return reinterpret_cast<Word *>(place.base + uint64_t{slot} * stride_);
    }
    // The same as numbers, for agents elsewhere: bases in bytes from `start`.
    void tell(const std::byte *start, uint64_t &stride, uint64_t (&base)[most_locations], uint32_t (&factor)[most_locations],
              uint32_t (&offset)[most_locations]) const {
        stride = stride_;
        for (unsigned location = 0; location < most_locations; ++location) {
            base[location] = static_cast<uint64_t>(places_[location].base - start);
            factor[location] = places_[location].factor;
            offset[location] = places_[location].offset;
        }
    }

private:
    struct Place {
        std::byte *base;
        uint32_t factor, offset; // factor is odd: a permutation of the slots
    };
    Place places_[most_locations];
    uint64_t stride_;
    uint32_t mask_;
};

} // namespace hbf::litmus
