// SPDX-License-Identifier: Apache-2.0
// Copies of the queue in the DRAM tier beside plain copies of the same bytes. Cold: each operation has bytes that were last
// touched a whole arena ago, in an order that no prefetcher follows.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/arena.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "conformance/measure/placement.hpp"
#include "conformance/measure/reference.hpp"
#include "conformance/measure/statistics.hpp"
#include "hbf/system.hpp"

namespace hbf::bench {
namespace {

using measure::Clock;
using measure::ReferenceCopy;
using measure::seconds_between;

constexpr uint64_t granule = 64 << 10;

void finish(Arena &arena) {
    auto point = arena.queue.submit(arena.batch);
    if (!point) throw std::runtime_error(point.error().message);
    auto done = arena.queue.wait(point->value);
    if (!done) throw std::runtime_error(done.error().message);
}

// What `ours` is held against: of all references the one that is fastest over the whole run.
size_t fastest(const std::vector<std::vector<double>> &figures, bool small_is_fast) {
    size_t best = 1;
    for (size_t i = 2; i < figures.size(); ++i) {
        const double a = measure::summarize(figures[i]).median, b = measure::summarize(figures[best]).median;
        if (small_is_fast ? a < b : a > b) best = i;
    }
    return best;
}

struct Reference {
    ReferenceCopy kind;
    size_t threads;
    std::string name() const { return fmt::format("{} x{}", measure::to_string(kind), threads); }
};

void single_copies(const Settings &settings, Arena &arena, Row row, uint64_t size, size_t ops, Integrity integrity,
                   std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const bool time = row.kind == Bar::ratio_at_most;
    uint64_t at = 0;
    auto figure = [&](double seconds) { return time ? seconds * 1e6 : static_cast<double>(size) / seconds * 1e-9; };
    auto plain = [&](ReferenceCopy kind) {
        return [&, kind] {
            return figure(median_of(
                ops, [&] { at = arena.next(); },
                [&] { measure::plain_copy(kind, arena.dst.address + at, arena.src.address + at, size); }));
        };
    };
    arena.deal(size);
    auto ours = [&] {
        const auto value = figure(median_of(
            ops,
            [&] {
                at = arena.next();
                arena.batch.clear();
                arena.batch.copy(arena.dst.region, at, arena.src.region, at, size, integrity);
            },
            [&] { finish(arena); }));
        arena.check(at, size);
        return value;
    };
    auto figures = interleave(settings, {ours, plain(ReferenceCopy::libc_memcpy), plain(ReferenceCopy::streaming)});
    const auto best = fastest(figures, time);
    row.reference = best == 1 ? "memcpy" : "streaming";
    row.ours = figures[0];
    row.theirs = figures[best];
    if (!arena.cold) row.notes.push_back("cache-hot: too little memory for a cold arena");
    rows.push_back(std::move(row));
}

// A batch of `count` copies of `size`, against a plain loop over the same pieces; what one thread a CPU does with them is
// noted.
void batches(const Settings &settings, Arena &arena, measure::ReferenceTeam &team, Row row, uint64_t size, size_t count,
             Integrity integrity, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const uint64_t bytes = size * count;
    uint64_t window = 0; // each try has the next part of the arena, so that all are cold
    auto next_window = [&] {
        window = window + 2 * bytes <= arena.src.size ? window + bytes : 0;
        return window;
    };
    auto figure = [&](double seconds) { return static_cast<double>(bytes) / seconds * 1e-9; };
    std::vector<Try> tries{[&] {
        const auto base = next_window();
        arena.batch.clear();
        for (uint64_t at = base; at < base + bytes; at += size) {
            arena.batch.copy(arena.dst.region, at, arena.src.region, at, size, integrity);
        }
        const auto begin = Clock::now();
        finish(arena);
        const auto end = Clock::now();
        arena.check(base, bytes);
        return figure(seconds_between(begin, end));
    }};
    std::vector<Reference> references;
    for (size_t threads = 1; threads <= team.size(); threads += std::max<size_t>(1, team.size() - 1)) {
        for (auto kind : {ReferenceCopy::libc_memcpy, ReferenceCopy::streaming}) {
            references.push_back({kind, threads});
            tries.push_back([&, kind, threads] {
                const auto base = next_window();
                return figure(team.run(kind, threads, arena.dst.address + base, arena.src.address + base, bytes, size));
            });
        }
    }
    auto figures = interleave(settings, tries);
    // The bar is one thread's plain copy. What all CPUs reach together, spinning until they start at once, is shown beside
    // it.
    const std::vector<std::vector<double>> one_thread(figures.begin(), figures.begin() + 3);
    const auto best = fastest(one_thread, false);
    row.reference = references[best - 1].name();
    row.ours = figures[0];
    row.theirs = figures[best];
    for (size_t i = 3; i < figures.size(); ++i) {
        row.notes.push_back(
            fmt::format("for comparison: {} {:.1f} GB/s", references[i - 1].name(), measure::summarize(figures[i]).median));
    }
    rows.push_back(std::move(row));
}

} // namespace

void copy_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    Arena arena(system);
    const auto home = measure::allowed_cpus();
    measure::ReferenceTeam team(home);
    single_copies(settings, arena, {"queue copy, 1 MiB, DRAM, cold", "GB/s", "", Bar::ratio_at_least, 0.97, {}, {}, {}, {}},
                  1 << 20, 48, Integrity::none, rows);
    batches(settings, arena, team, {"queue copy, 64 MiB, DRAM, cold", "GB/s", "", Bar::ratio_at_least, 0.97, {}, {}, {}, {}},
            64 << 20, 1, Integrity::none, rows);
    single_copies(
        settings, arena,
        {"one 64 KiB granule with CRC, submit to completion, cold", "us", "", Bar::ratio_at_most, 1.25, {}, {}, {}, {}},
        granule, 512, Integrity::next_read, rows);
    batches(settings, arena, team,
            {"batch of 1,024 granules with CRC", "GB/s", "", Bar::ratio_at_least, 0.90, {}, {}, {}, {}}, granule, 1024,
            Integrity::next_read, rows);
}

} // namespace hbf::bench
