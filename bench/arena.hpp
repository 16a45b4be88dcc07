// SPDX-License-Identifier: Apache-2.0
// Memory of the DRAM tier for rows that want it cold: each operation has bytes that were last touched a whole arena ago, in
// an order that no prefetcher follows.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "hbf/system.hpp"

namespace hbf::bench {

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

// Two buffers in the first memory tier, written and never the same bytes twice in a row.
class Arena {
public:
    explicit Arena(System &system);
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    Device &device;
    RegionInfo src, dst;
    Queue queue;
    Batch batch;
    bool cold = true;

    // Offsets of pieces of `size`, shuffled; taken from the front, over and over.
    void deal(uint64_t size);
    uint64_t next();
    void check(uint64_t at, uint64_t size) const; // throws if dst does not hold what src holds there

private:
    std::vector<uint64_t> order_;
    size_t next_ = 0;
    std::mt19937_64 random_{12345};
};

// Median seconds of one operation: a pre-empted one does not count for all.
double median_of(size_t ops, const std::function<void()> &before, const std::function<void()> &op);

} // namespace hbf::bench
