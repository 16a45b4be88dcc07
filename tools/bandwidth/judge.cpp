// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/judge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "tools/bandwidth/causes.hpp"

namespace hbf::tools::bandwidth {
namespace {

constexpr double impossible = 1.5;  // times the best reference
constexpr double well_below = 0.75; // of the best reference on one thread: any executor should do as well

} // namespace

void summarize(Row &row) {
    row.queue = measure::summarize(row.gbs);
    row.wall = measure::summarize(row.wall_gbs);
    std::vector<double> overhead;
    for (const auto &record : row.samples) {
        overhead.push_back((record.sample.wall_seconds - record.sample.queue_seconds) * 1e6);
    }
    row.overhead_us = measure::summarize(overhead).median;
    for (size_t i = 0; i < row.references.size() && row.queue.count > 0; ++i) {
        if (row.references[i].gbs.empty()) continue;
        auto &best = row.references[i].threads == 1 ? row.one_thread : row.all_threads;
        const auto median = measure::summarize(row.references[i].gbs).median;
        if (!best || median > best->gbs) best = {i, median, row.queue.median / median};
    }
}

std::optional<Row::Limit> physical_limit(const Row &row, const Machine &machine) {
    std::optional<Row::Limit> out;
    for (auto place : {row.spec.src, row.spec.dst}) {
        const auto &tier = machine.places()[place].tier;
        const double gbs = static_cast<double>(tier.nominal_bandwidth) * 1e-9;
        // Each of two directions at once has the whole of a full-duplex link: their sum is held against none.
        if (gbs <= 0 || row.spec.direction == RowSpec::Direction::both || (out && out->gbs <= gbs)) continue;
        out = {gbs, row.queue.median / gbs, tier.name};
    }
    return out;
}

std::optional<double> highest_possible(const Row &row) {
    double most = 0;
    for (const auto &series : row.references) {
        for (double one : series.gbs) most = std::max(most, one);
    }
    if (most <= 0) return std::nullopt;
    return impossible * most;
}

void judge(Row &row, const Machine &machine) {
    if (row.status == Status::pass && row.samples.empty()) {
        row.status = Status::error;
        row.reason = row.interrupted ? "interrupted before a sample was taken" : "no sample was taken in the time given";
    }
    // Not by chance: the whole interval lies above, and above what plain copies reached at their least disturbed.
    const double least = row.queue.ci95 ? row.queue.ci95->low : row.queue.min;
    const auto limit = highest_possible(row);
    if (row.status == Status::pass && limit && least > *limit * machine.reference_slack()) {
        const double most = *limit / impossible;
        row.status = Status::fail;
        row.reason =
            fmt::format("impossible figure: {} GB/s is {:.2f} times the fastest plain copy of this run ({} GB/s): the "
                        "device completes before its data has moved, or the clock is wrong",
                        format_significant(row.queue.median), row.queue.median / most, format_significant(most));
    }
    row.limit = physical_limit(row, machine);
    // What stays in a cache does not pass through the tier.
    if (row.status == Status::pass && row.limit && !row.cache_hot && row.page_cache != PageCache::hot &&
        least > row.limit->gbs) {
        row.status = Status::fail;
        row.reason = fmt::format("above the physical limit: {} GB/s, tier {} does {} GB/s at most: the data did not pass "
                                 "through it, or the clock is wrong",
                                 format_significant(row.queue.median), row.limit->tier, format_significant(row.limit->gbs));
    }
    if (row.status != Status::pass) return;
    if (row.cache_hot) {
        row.notes.push_back(fmt::format("cache-hot: {} a buffer, {} would defeat the last-level cache",
                                        format_size(row.bytes), format_size(row.wanted_bytes)));
    }
    if (!row.warmup_stable) row.notes.push_back("unstable_warmup: the last passes still differed by 2 % or more");
    if (row.page_cache == PageCache::hot) {
        row.notes.push_back("page_cache=hot: the bytes did not all reach the device, this is the page cache's speed");
    }
    if (row.one_thread && row.one_thread->share < well_below) row.causes = likely_causes(row, machine);
    // Held against nothing: what its links say of themselves is still known.
    if (!row.one_thread) row.causes = link_causes(row, machine);
}

void judge_floor(Row &row, const Machine &machine, const std::optional<Floor> &floor) {
    row.floor = floor;
    if (!floor || row.status != Status::pass) return;
    // Below the floor with the whole interval, not by chance.
    const double best = row.queue.ci95 ? row.queue.ci95->high : row.queue.median;
    if (best >= floor->gbs) return;
    row.status = Status::fail;
    row.reason =
        fmt::format("below the floor: {} GB/s, profile '{}' ({}, {}) asks for {} GB/s", format_significant(row.queue.median),
                    floor->profile, floor->source, floor->date, format_significant(floor->gbs));
    row.causes = likely_causes(row, machine);
}

} // namespace hbf::tools::bandwidth
