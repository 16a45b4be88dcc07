// SPDX-License-Identifier: Apache-2.0
// One layer's attention of one token at 128K, of a model with 32 query and 8 KV heads, 128 channels, fp16: by the engine's
// exact attention over blocks in memory, and by its selective one over the same. One core.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/arena.hpp"
#include "bench/one_cpu.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/statistics.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/host_memory.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/selective.hpp"
#include "core/engine/attention/testing/scene.hpp"
#include "kernels/host/attention/attention.hpp"
#include "kernels/host/copy.hpp"

namespace hbf::bench {
namespace {

using kv::testing::Query;
using kv::testing::Scene;

constexpr uint32_t query_heads = 32, kv_heads = 8, dim = 128, block_tokens = 128, shared = query_heads / kv_heads;

uint16_t to_fp16(float value) { // to nearest; of numbers that are normal in fp16, or nearly 0
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 113u << 23) return static_cast<uint16_t>(bits >> 16 & 0x8000u);
    return static_cast<uint16_t>((bits >> 16 & 0x8000u) | (magnitude + 0xfffu - (112u << 23)) >> 13);
}

// A sequence of one layer in memory, and its index.
class Context {
public:
    Context(uint32_t tokens, float offset, bool indexed)
        : shape{query_heads, kv_heads, dim, block_tokens, HBF_ELEMENT_FP16, 1 / std::sqrt(static_cast<float>(dim))},
          size(kernels::device::kv_block_size(shape)), memory(must(kv::HostMemory::take(tokens / block_tokens * size))),
          index(must(kv::KeyIndex::make({shape, 4, 0}))), place(memory.bytes().data(), memory.bytes().size()) {
        for (uint32_t head = 0; head < kv_heads; ++head) scenes.emplace_back(dim, head + 1, offset);
        std::vector<float> numbers(dim);
        std::vector<uint16_t> keys(size_t{block_tokens} * kv_heads * dim), values(keys.size());
        for (uint32_t block = 0; block < tokens / block_tokens; ++block) {
            const auto fill = [&](std::vector<uint16_t> &rows, uint32_t token, uint32_t head) {
                for (uint32_t i = 0; i < dim; ++i) rows[(token * kv_heads + head) * dim + i] = to_fp16(numbers[i]);
            };
            for (uint32_t token = 0; token < block_tokens; ++token)
                for (uint32_t head = 0; head < kv_heads; ++head) {
                    scenes[head].key(block * block_tokens + token, numbers.data()), fill(keys, token, head);
                    scenes[head].value(block * block_tokens + token, numbers.data()), fill(values, token, head);
                }
            auto *const at = memory.bytes().data() + block * size;
            if (!kernels::attention_pack(shape, keys.data(), values.data(), 0, block_tokens, at))
                throw std::runtime_error("a block could not be made");
            if (indexed && (!index.add_tokens(block, at, 0, block_tokens) || !index.add_sketch(block, at)))
                throw std::runtime_error("a block could not be indexed");
            blocks.push_back({{block * size, block_tokens, 0}, 0});
        }
    }

    std::vector<float> query(Query kind, uint64_t number) const {
        std::vector<float> out(size_t{query_heads} * dim);
        const auto needle = static_cast<uint32_t>(number * 7919 % (blocks.size() * block_tokens));
        for (uint32_t head = 0; head < query_heads; ++head)
            scenes[head / shared].query(kind, number * query_heads + head, needle, out.data() + head * dim);
        return out;
    }
    void exact(const std::vector<float> &of, std::vector<float> &output) {
        kv::AttendPlace *const places[] = {&place};
        output.resize(of.size());
        check(attention.attend(shape, places, blocks, of.data(), 1, output.data()));
    }
    void selective(const kv::Selection &selection, const std::vector<float> &of, std::vector<float> &output) {
        kv::AttendPlace *const places[] = {&place};
        output.resize(of.size());
        check(selected.attend(selection, index, places, blocks, of.data(), output.data()));
    }
    static void check(const Result<> &done) {
        if (!done) throw std::runtime_error(done.error().message);
    }

    kv::kv_shape shape;
    uint64_t size;
    kv::HostMemory memory;
    kv::KeyIndex index;
    kv::MemoryPlace place;
    std::vector<Scene> scenes;
    std::vector<kv::Block> blocks;
    kv::ExactAttention attention;
    kv::SelectiveAttention selected;
};

double seconds(const std::function<void()> &op) {
    return median_of(1, [] {}, op);
}

void exact_row(const Settings &settings, Context &context, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const OneCpu here;
    const auto query = context.query(Query::mixed, 1);
    std::vector<float> output, state(2 * shared), partial(shared * dim);
    const double bytes = static_cast<double>(context.memory.bytes().size());
    uint64_t sum = 0;
    kv::kv_shape small = context.shape; // two heads of a block stay in the cache
    small.kv_heads = 2, small.query_heads = 2 * shared;
    state.resize(2 * small.query_heads), partial.resize(small.query_heads * dim);
    const kernels::device::kv_block one{0, block_tokens, 0};
    const uint64_t small_size = kernels::device::kv_block_size(small);
    context.exact(query, output);
    auto figures = interleave(
        settings, {[&] { return bytes * 1e-9 / seconds([&] { context.exact(query, output); }); },
                   [&] {
                       return bytes * 1e-9 / seconds([&] {
                                  sum += kernels::read_all(context.memory.bytes().data(), context.memory.bytes().size());
                              });
                   },
                   [&] {
                       return static_cast<double>(small_size) * 1e-9 /
                              median_of(
                                  400, [] {},
                                  [&] {
                                      kernels::attention({reinterpret_cast<const uint8_t *>(context.memory.bytes().data()),
                                                          &one, query.data(), state.data(), partial.data()},
                                                         {small_size, small, 1, 0});
                                  });
                   }});
    row.ours = figures[0];
    for (size_t i = 0; i < figures[1].size(); ++i) row.theirs.push_back(std::min(figures[1][i], figures[2][i]));
    row.notes.push_back(
        fmt::format("1 layer of {:.0f} MiB; reading {:.1f} GB/s, from the cache {:.1f} GB/s; {:.1f} ms a token",
                    bytes / (1 << 20), measure::summarize(figures[1]).median, measure::summarize(figures[2]).median,
                    bytes * 1e-6 / measure::summarize(figures[0]).median));
    if (sum == 0) row.notes.push_back("all bytes read sum up to nothing");
    rows.push_back(std::move(row));
}

// Euclidean distance from the exact output, the largest of any head, in parts of the exact one's length.
double distance(const std::vector<float> &ours, const std::vector<float> &exact) {
    double most = 0;
    for (uint32_t head = 0; head < query_heads; ++head) {
        double off = 0, length = 0;
        for (uint32_t i = head * dim; i < (head + 1) * dim; ++i) {
            off += std::pow(static_cast<double>(ours[i]) - static_cast<double>(exact[i]), 2);
            length += std::pow(static_cast<double>(exact[i]), 2);
        }
        most = std::max(most, std::sqrt(off / length));
    }
    return most;
}

// A selective step beside an exact one, for one kind of query.
void selective_row(const Settings &settings, Context &context, Query kind, double target, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const OneCpu here;
    kv::Selection selection;
    selection.target = target;
    std::vector<float> query = context.query(kind, 0), output, exact;
    context.selective(selection, query, output), context.exact(query, exact);
    uint64_t number = 0, read = 0, all = 0, exact_heads = 0, steps = 0;
    double worst = 0, missed = 0;
    auto figures = interleave(settings, {[&] {
                                             query = context.query(kind, ++number);
                                             const double taken =
                                                 seconds([&] { context.selective(selection, query, output); });
                                             context.exact(query, exact);
                                             const auto &report = context.selected.report();
                                             worst = std::max(worst, distance(output, exact));
                                             missed = std::max(missed, report.missed);
                                             read += report.bytes(), all += report.bytes_of_all_blocks;
                                             exact_heads += report.exact_heads, ++steps;
                                             return 1 / taken;
                                         },
                                         [&] { return 1 / seconds([&] { context.exact(query, exact); }); }});
    row.ours = figures[0], row.theirs = figures[1];
    row.notes.push_back(fmt::format("bytes read: 1/{:.1f} of all; farthest from exact {:.1e} of its length, missed at most "
                                    "{:.1e} by the certificate; {:.0f} % of KV heads read all",
                                    static_cast<double>(all) / static_cast<double>(read), worst, missed,
                                    100.0 * static_cast<double>(exact_heads) / static_cast<double>(steps * kv_heads)));
    rows.push_back(std::move(row));
}

// Share of the heads that give a needle half of their attention or more, and get it.
void needle_row(const Settings &settings, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    for (const float offset : {0.0f, 3.0f, 6.0f}) {
        Context context(65536, offset, true);
        kv::Selection selection;
        selection.target = 0.45; // what weighs more than that cannot be left out
        uint64_t asked = 0, found = 0, read = 0, all = 0;
        std::vector<float> output, exact, value(dim);
        for (uint64_t number = 1; number <= settings.pairs; ++number) {
            const auto query = context.query(Query::peaked, number);
            const auto needle = static_cast<uint32_t>(number * 7919 % 65536);
            context.selective(selection, query, output), context.exact(query, exact);
            read += context.selected.report().bytes(), all += context.selected.report().bytes_of_all_blocks;
            for (uint32_t head = 0; head < query_heads; ++head) {
                context.scenes[head / shared].value(needle, value.data());
                float ours = 0, theirs = 0, length = 0; // along the needle's value, of which nothing else has as much
                for (uint32_t i = 0; i < dim; ++i) {
                    ours += output[head * dim + i] * value[i], theirs += exact[head * dim + i] * value[i];
                    length += value[i] * value[i];
                }
                if (theirs < length / 2) continue;
                ++asked;
                found += ours >= 0.45f * length;
            }
        }
        if (asked == 0) throw std::runtime_error("no head asked for its needle: no figure");
        row.ours.push_back(static_cast<double>(found) / static_cast<double>(asked)), row.theirs.push_back(1);
        row.notes.push_back(fmt::format("offset {:.0f}: {} of {} found, bytes read 1/{:.1f}", static_cast<double>(offset),
                                        found, asked, static_cast<double>(all) / static_cast<double>(read)));
    }
    rows.push_back(std::move(row));
}

Row row_of(std::string name, std::string unit, std::string reference, Bar kind, double bar) {
    return {std::move(name), std::move(unit), std::move(reference), kind, bar, {}, {}, {}, {}};
}

} // namespace

void decode_rows(const Settings &settings, std::vector<Row> &rows) {
    const Row exact = row_of("exact decode, 128K, one memory tier, one core", "GB/s",
                             "the lesser of reading and from the cache", Bar::ratio_at_least, 0.75),
              needle = row_of("needles found, certified, 64K", "share", "all", Bar::ratio_at_least, 1);
    std::vector<std::pair<Query, double>> kinds;
    std::vector<Row> selective;
    for (const double target : {0.0, 0.05})
        for (const Query kind : kv::testing::all_queries) {
            kinds.emplace_back(kind, target);
            const bool has_bar = target == 0;
            selective.push_back(row_of(fmt::format("{} decode, 128K, {} heads", target == 0 ? "selective" : "certified",
                                                   kv::testing::name_of(kind)),
                                       "tokens/s", "exact", has_bar ? Bar::ratio_at_least : Bar::none, has_bar ? 15 : 0));
        }
    const auto wants = [&](const Row &row) { return settings.wants(row.name); };
    const bool some = std::any_of(selective.begin(), selective.end(), wants);
    if (some || wants(exact)) {
        settings.tell("keys and values of 128K tokens");
        Context context(131072, 3, some);
        exact_row(settings, context, exact, rows);
        for (size_t i = 0; i < selective.size(); ++i)
            selective_row(settings, context, kinds[i].first, kinds[i].second, std::move(selective[i]), rows);
    }
    needle_row(settings, needle, rows);
}

} // namespace hbf::bench
