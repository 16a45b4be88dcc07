// SPDX-License-Identifier: Apache-2.0
// Attention over KV blocks in memory, its key sketches, and the gathering of KV blocks, on one core: beside reading or
// copying the same bytes, and beside the multiplications that the processor can do.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "bench/arena.hpp"
#include "bench/one_cpu.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "conformance/measure/statistics.hpp"
#include "kernels/host/attention/attention.hpp"
#include "kernels/host/attention/sketch.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/kv_blocks.hpp"

namespace hbf::bench {
namespace {

using kernels::Stores;
using kernels::device::kv_block;
using kernels::device::kv_shape;

constexpr uint32_t shared_heads = 4, head_dim = 128, block_tokens = 128;
constexpr size_t operations = 32; // a try

// One core's attention over cold blocks of a model with 32 query and 8 KV heads, or over a small block again and again.
class Attention {
public:
    Attention(Arena &arena, uint32_t kv_heads, size_t block_count)
        : arena_(arena), shape_{shared_heads * kv_heads,
                                kv_heads,
                                head_dim,
                                block_tokens,
                                HBF_ELEMENT_FP16,
                                1 / std::sqrt(static_cast<float>(head_dim))},
          blocks_(block_count), query_(shape_.query_heads * head_dim, 0.01f), state_(2 * block_count * shape_.query_heads),
          output_(block_count * query_.size()) {}

    uint64_t block_size() const { return kernels::device::kv_block_size(shape_); }
    uint64_t bytes() const { return blocks_.size() * block_size(); }
    void next() {
        for (auto &block : blocks_) block = {arena_.next(), block_tokens, 0};
    }
    void attend() {
        kernels::attention({pool(), blocks_.data(), query_.data(), state_.data(), output_.data()},
                           {arena_.src.size, shape_, static_cast<uint32_t>(blocks_.size()), 0});
    }
    uint64_t read() const {
        uint64_t sum = 0;
        for (const auto &block : blocks_) sum += kernels::read_all(pool() + block.offset, block_size());
        return sum;
    }
    // GB/s of one operation.
    double rate(size_t count, const std::function<void()> &before, const std::function<void()> &op) const {
        return static_cast<double>(bytes()) * 1e-9 / median_of(count, before, op);
    }
    void check() const {
        for (const float number : output_)
            if (!std::isfinite(number)) throw std::runtime_error("attention over numbers is no number: no figure");
    }

private:
    const uint8_t *pool() const { return reinterpret_cast<const uint8_t *>(arena_.src.address); }

    Arena &arena_;
    kv_shape shape_;
    std::vector<kv_block> blocks_;
    std::vector<float> query_, state_, output_;
};

// fp16 numbers between 1/8 and 1/2, of either sign.
void fill_with_numbers(Arena &arena) {
    for (uint64_t at = 0; at < arena.src.size; at += 8) {
        uint64_t word;
        std::memcpy(&word, arena.src.address + at, sizeof word);
        word = (word & 0x87ff87ff87ff87ff) + 0x3000300030003000;
        std::memcpy(arena.src.address + at, &word, sizeof word);
    }
}

// GB/s of fp16 keys and values that the processor's multiplications allow.
double multiplication_bound() {
    constexpr uint64_t rounds = 20000;
    uint64_t in_round = 0;
    const double seconds = median_of(operations, [] {}, [&] { in_round = kernels::attention_fma_loop(rounds); });
    if (in_round == 0) throw std::runtime_error("the multiplications came to nothing: no figure");
    return static_cast<double>(in_round * rounds) / seconds / shared_heads * 2 * 1e-9;
}

void attention_row(const Settings &settings, Arena &arena, Row cold_row, Row cached_row, std::vector<Row> &rows) {
    if (!settings.wants(cold_row.name) && !settings.wants(cached_row.name)) return;
    settings.tell(cold_row.name);
    const OneCpu here;
    Attention cold(arena, 8, 4), cached(arena, 2, 1);
    arena.deal(cold.block_size());
    cached.next();
    uint64_t sum = 0; // so that the reads happen
    const auto next = [&] { cold.next(); };
    auto figures = interleave(settings, {[&] { return cold.rate(operations, next, [&] { cold.attend(); }); },
                                         [&] { return cold.rate(operations, next, [&] { sum += cold.read(); }); },
                                         [&] { return cached.rate(20 * operations, [] {}, [&] { cached.attend(); }); },
                                         multiplication_bound});
    cold.check(), cached.check();
    const auto median = [&](size_t i) { return measure::summarize(figures[i]).median; };
    cold_row.ours = figures[0];
    for (size_t i = 0; i < figures[1].size(); ++i) cold_row.theirs.push_back(std::min(figures[1][i], figures[2][i]));
    cold_row.notes.push_back(fmt::format("reading {:.1f} GB/s, from the cache {:.1f} GB/s, {} instructions, CPU {}",
                                         median(1), median(2), kernels::attention_target(), here.cpu()));
    if (sum == 0) cold_row.notes.push_back("all bytes read sum up to nothing");
    if (!arena.cold) cold_row.notes.push_back("cache-hot: too little memory for a cold arena");
    cached_row.ours = figures[2], cached_row.theirs = figures[3];
    if (settings.wants(cold_row.name)) rows.push_back(std::move(cold_row));
    if (settings.wants(cached_row.name)) rows.push_back(std::move(cached_row));
}

void sketch_row(const Settings &settings, Arena &arena, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const OneCpu here;
    Attention exact(arena, 8, 4);
    const kernels::device::sketch_shape shape{
        {32, 8, head_dim, block_tokens, HBF_ELEMENT_FP16, 1 / std::sqrt(static_cast<float>(head_dim))}, 4, 0};
    const uint64_t size = kernels::device::sketch_block_size(shape);
    std::vector<kv_block> blocks(16);
    std::vector<float> query(32 * head_dim, 0.01f), result(3 * blocks.size() * 32);
    arena.deal(exact.block_size());
    uint64_t sum = 0;
    const auto next = [&] {
        exact.next();
        for (auto &block : blocks) block = {arena.next(), block_tokens, 0};
    };
    const auto rate = [&](const std::function<void()> &op) {
        return static_cast<double>(blocks.size() * size) * 1e-9 / median_of(operations, next, op);
    };
    auto figures = interleave(settings, {[&] {
                                             return rate([&] {
                                                 kernels::sketch_score({reinterpret_cast<const uint8_t *>(arena.src.address),
                                                                        blocks.data(), query.data(), result.data()},
                                                                       {arena.src.size, shape, 16, 0});
                                             });
                                         },
                                         [&] {
                                             return rate([&] {
                                                 for (const auto &block : blocks)
                                                     sum += kernels::read_all(arena.src.address + block.offset, size);
                                             });
                                         },
                                         [&] { return exact.rate(operations, next, [&] { exact.attend(); }); }});
    for (const float number : result)
        if (!std::isfinite(number)) throw std::runtime_error("a sketch of numbers says nothing: no figure");
    if (sum == 0) row.notes.push_back("all bytes read sum up to nothing");
    row.ours = figures[0], row.theirs = figures[1];
    const double block_per_second = measure::summarize(figures[0]).median / static_cast<double>(size),
                 attended_per_second = measure::summarize(figures[2]).median / static_cast<double>(exact.block_size());
    row.notes.push_back(
        fmt::format("{:.1f} blocks are scored in the time that one is attended", block_per_second / attended_per_second));
    rows.push_back(std::move(row));
}

// Blocks of 64 KiB, keys and values apart, as a serving engine's pool keeps them, gathered into one piece.
void gather_row(const Settings &settings, Arena &arena, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const OneCpu here;
    constexpr uint64_t piece = 32 << 10, listed = 16, moved = 2 * piece * listed;
    const auto blocks = static_cast<uint32_t>(arena.src.size / 2 / piece);
    const kernels::KvBlocks layout{piece, piece, blocks * piece, 2, blocks, listed};
    std::mt19937 random(1);
    std::vector<uint32_t> list(listed), outcome(listed);
    uint64_t at = 0;
    arena.deal(moved);
    const auto next = [&] {
        at = arena.next();
        for (auto &block : list) block = random() % blocks;
    };
    const auto rate = [&](const std::function<void()> &op) {
        return static_cast<double>(moved) * 1e-9 / median_of(4 * operations, next, op);
    };
    auto figures = interleave(
        settings,
        {[&] {
             const double figure = rate([&] {
                 kernels::kv_gather(layout, arena.src.address, list.data(), arena.dst.address + at, outcome.data(),
                                    Stores::streaming);
             });
             for (uint64_t i = 0; i < 2 * listed; ++i) {
                 const auto *const from = arena.src.address + list[i / 2] * piece + i % 2 * layout.part_stride;
                 if (std::memcmp(arena.dst.address + at + i * piece, from, piece) != 0)
                     throw std::runtime_error("what was gathered is wrong: no figure");
             }
             return figure;
         },
         [&] {
             return rate([&] { kernels::copy(arena.dst.address + at, arena.src.address + at, moved, Stores::streaming); });
         }});
    row.ours = figures[0], row.theirs = figures[1];
    if (!arena.cold) row.notes.push_back("cache-hot: too little memory for a cold arena");
    rows.push_back(std::move(row));
}

} // namespace

void attention_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    const Row cold{"partial attention, fp16, 32/8 heads, cold, one core",
                   "GB/s",
                   "the lesser of reading and from the cache",
                   Bar::ratio_at_least,
                   0.75,
                   {},
                   {},
                   {},
                   {}};
    const Row cached{"partial attention, from the cache",
                     "GB/s",
                     "multiplications at full speed",
                     Bar::ratio_at_least,
                     0.70,
                     {},
                     {},
                     {},
                     {}};
    const Row sketch{"scores of 4-bit key sketches, cold, one core", "GB/s", "reading", Bar::none, 0, {}, {}, {}, {}};
    const Row gather{
        "KV gather, 16 blocks of 64 KiB, cold, one core", "GB/s", "streaming", Bar::ratio_at_least, 0.90, {}, {}, {}, {}};
    const Row *const all[] = {&cold, &cached, &sketch, &gather};
    if (std::none_of(std::begin(all), std::end(all), [&](const Row *row) { return settings.wants(row->name); })) return;
    Arena arena(system);
    gather_row(settings, arena, gather, rows);
    fill_with_numbers(arena);
    attention_row(settings, arena, cold, cached, rows);
    sketch_row(settings, arena, sketch, rows);
}

} // namespace hbf::bench
