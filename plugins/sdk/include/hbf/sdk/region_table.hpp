// SPDX-License-Identifier: Apache-2.0
// Generation-checked handles for regions, with in-flight counts: stale handles and busy frees for free.
//
// Handle = generation (32 bit) | slot + 1 (32 bit). find, pin and unpin take no lock and allocate nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "hbf/sdk/failure.hpp"

namespace hbf::sdk {

template <class T>
class RegionTable {
public:
    hbf_region insert(T value);                 // throws EXHAUSTED when 2^20 regions live
    T *find(hbf_region region) noexcept;        // nullptr if stale
    T *pin(hbf_region region) noexcept;         // find, and one more command in flight; nullptr if stale
    void unpin(hbf_region region) noexcept;
    T take(hbf_region region);                  // throws INVALID if stale, BUSY while pinned
    void drain(const std::function<void(T &)> &each); // for destroy: every live entry, then empty
};

} // namespace hbf::sdk
