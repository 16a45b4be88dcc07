// SPDX-License-Identifier: Apache-2.0
#include "bench/arena.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "conformance/measure/clock.hpp"
#include "conformance/measure/plan.hpp"
#include "conformance/measure/statistics.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::bench {

Arena::Arena(System &system) : device(system.devices().front()) {
    const auto tiers = device.tiers();
    auto dram =
        std::find_if(tiers.begin(), tiers.end(), [](const TierInfo &t) { return t.kind == TierKind::hbm && t.cpu_access; });
    if (dram == tiers.end()) throw std::runtime_error("this host has no memory tier that the CPU can touch");
    const auto plan =
        measure::plan_arena(system.selection().inventory.last_level_cache_bytes, 0, dram->available, 2, 64 << 20);
    if (plan.bytes == 0) throw std::runtime_error("too little memory for a cold arena");
    cold = plan.cold();
    src = must(device.allocate(dram->index, plan.bytes));
    dst = must(device.allocate(dram->index, plan.bytes));
    kernels::pattern_fill(src.address, src.size, {1, 1, false}, 0);
    kernels::pattern_fill(dst.address, dst.size, {1, 1, true}, 0);
    if (auto told = device.written_by_cpu(src.region, 0, src.size); !told) throw std::runtime_error(told.error().message);
    if (auto told = device.written_by_cpu(dst.region, 0, dst.size); !told) throw std::runtime_error(told.error().message);
    queue = must(device.create_queue({4, 1024}));
}

Arena::~Arena() {
    queue = Queue();
    (void)device.free(src.region);
    (void)device.free(dst.region);
}

void Arena::deal(uint64_t size) {
    order_.resize(src.size / size);
    std::iota(order_.begin(), order_.end(), uint64_t{0});
    for (auto &at : order_) at *= size;
    std::shuffle(order_.begin(), order_.end(), random_);
    next_ = 0;
}

uint64_t Arena::next() {
    const auto at = order_[next_];
    next_ = (next_ + 1) % order_.size();
    return at;
}

void Arena::check(uint64_t at, uint64_t size) const {
    if (kernels::pattern_verify(dst.address + at, size, {1, 1, false}, at).wrong_words != 0) {
        throw std::runtime_error(fmt::format("the copy at {:#x} is wrong: no figure", at));
    }
}

double median_of(size_t ops, const std::function<void()> &before, const std::function<void()> &op) {
    std::vector<double> times;
    for (size_t i = 0; i < ops; ++i) {
        before();
        const auto begin = measure::Clock::now();
        op();
        times.push_back(measure::seconds_between(begin, measure::Clock::now()));
    }
    return measure::summarize(times).median;
}

} // namespace hbf::bench
