// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/latency.hpp"

#include <algorithm>

#include "conformance/measure/shuffle.hpp"
#include "conformance/measure/transfer.hpp"

namespace hbf::measure {
namespace {

uint64_t nanoseconds(Clock::time_point begin, Clock::time_point end) {
    return end > begin ? static_cast<uint64_t>(std::chrono::nanoseconds(end - begin).count()) : 0;
}

// What a reader does first: it looks at the granule's ends.
void read_ends(const std::byte *granule, uint64_t size) {
    (void)*static_cast<const volatile std::byte *>(granule);
    (void)*static_cast<const volatile std::byte *>(granule + size - 1);
}

} // namespace

Result<std::optional<Mismatch>> Transfer::latencies(const LatencyPlan &plan, Latency &out) {
    if (auto ready = refresh(); !ready) return tl::unexpected(ready.error());
    const auto size = std::min(plan.granule, bytes_);
    const uint64_t granules = plan.hot ? 1 : bytes_ / size;
    const auto from = shuffled(granules, seed_), to = shuffled(granules, seed_ + 1u);
    std::vector<Move> moves;
    for (uint64_t i = 0; i < granules; ++i) moves.push_back({dst_.region, to[i] * size, src_.region, from[i] * size, size});

    const auto start = Clock::now();
    auto now = start;
    size_t ran = 0;
    // Each granule once, so that what an earlier copy left is never taken for a later one's work.
    const size_t most = plan.hot ? plan.most : std::min<size_t>(plan.most, granules);
    for (; ran < most && seconds_between(start, now) < plan.seconds; ++ran) {
        const auto &move = moves[ran % granules];
        auto due = now;
        if (plan.rate > 0) {
            const std::chrono::duration<double> after(static_cast<double>(ran) / plan.rate);
            due = start + std::chrono::duration_cast<Clock::duration>(after);
        }
        auto begin = Clock::now();
        while (begin < due) begin = Clock::now();
        if (plan.rate <= 0) due = begin;
        auto value = target_.submit({&move, 1});
        if (!value) return tl::unexpected(value.error());
        const auto submitted = Clock::now();
        if (auto done = target_.wait(*value); !done) return tl::unexpected(done.error());
        const auto moved = Clock::now();
        now = moved;
        if (dst_.address != nullptr) {
            read_ends(dst_.address + move.dst_offset, size);
            now = Clock::now();
            out.visible.record(nanoseconds(moved, now));
        }
        out.submit.record(nanoseconds(begin, submitted));
        out.movement.record(nanoseconds(submitted, moved));
        out.total.record(nanoseconds(due, now));
    }
    out.seconds = seconds_between(start, now);
    return check_moves(std::span(moves).first(std::min<size_t>(ran, granules)));
}

} // namespace hbf::measure
