// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/both_ways.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace hbf::tools::bandwidth {

using measure::Clock;
using measure::seconds_between;

void balance(Live &forward, Live &backward, Live &both) {
    if (!forward.active() || !backward.active()) return;
    auto lasts = [](const Live &live) {
        const uint64_t passes = live.transfer->sample_bytes() / live.transfer->bytes();
        return live.pass_seconds * static_cast<double>(passes);
    };
    const double longest = std::max(lasts(forward), lasts(backward));
    for (auto *live : {&forward, &backward}) {
        const double passes = std::round(longest / std::max(live->pass_seconds, 1e-7));
        live->transfer->set_passes(static_cast<uint32_t>(std::clamp(passes, 1.0, 4096.0)));
        live->row.sample_bytes = live->transfer->sample_bytes();
    }
    both.row.sample_bytes = forward.row.sample_bytes + backward.row.sample_bytes;
    both.row.bytes = forward.row.bytes;
    both.row.op_size = forward.row.op_size;
    both.row.depth = forward.row.depth;
    both.row.batch_ops = forward.row.batch_ops;
    both.row.cache_hot = forward.row.cache_hot || backward.row.cache_hot;
    both.row.wanted_bytes = std::max(forward.row.wanted_bytes, backward.row.wanted_bytes);
    both.row.warmup_stable = forward.row.warmup_stable && backward.row.warmup_stable;
}

void sample_both(Live &forward, Live &backward, Live &both) {
    const auto before = measure::read_cpu_use();
    for (auto *live : {&forward, &backward}) {
        if (auto ready = live->transfer->prepare_sample(); !ready) return give_up(*live, ready.error());
    }
    std::atomic<int> there = 0;
    Clock::time_point ends[2];
    Result<measure::Sample> taken[2] = {measure::Sample{}, measure::Sample{}};
    auto run = [&](Live &live, size_t i) {
        for (++there; there < 2;) std::this_thread::yield(); // neither begins before the other can
        taken[i] = live.transfer->time_sample();
        ends[i] = Clock::now();
    };
    std::thread other([&] { run(backward, 1); });
    for (; there < 1;) std::this_thread::yield();
    const auto begin = Clock::now();
    run(forward, 0);
    other.join();
    for (auto [live, i] : {std::pair{&forward, 0}, {&backward, 1}}) {
        if (!taken[i]) return give_up(*live, taken[i].error());
        if (auto checked = live->transfer->check_sample(*taken[i]); !checked) return give_up(*live, checked.error());
    }
    measure::Sample sum;
    sum.queue_seconds = sum.wall_seconds = seconds_between(begin, std::max(ends[0], ends[1]));
    record(forward.row, *taken[0], forward.transfer->sample_bytes(), before);
    record(backward.row, *taken[1], backward.transfer->sample_bytes(), before);
    record(both.row, sum, forward.transfer->sample_bytes() + backward.transfer->sample_bytes(), before);
}

void settle(const Live &forward, const Live &backward, Live &both) {
    both.row.interrupted = forward.row.interrupted || backward.row.interrupted;
    for (const auto *live : {&forward, &backward}) {
        if (live->row.status == Status::pass || both.row.status != Status::pass) continue;
        both.row.status = live->row.status;
        both.row.reason = live->row.src + " -> " + live->row.dst + ": " + live->row.reason;
    }
}

} // namespace hbf::tools::bandwidth
