// SPDX-License-Identifier: Apache-2.0
// A granule of KV on its way between two tiers, copied, verified and published, beside a plain copy of as many bytes. Cold
// on both sides: no granule was touched since the whole arena was.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "bench/arena.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "conformance/measure/reference.hpp"
#include "conformance/measure/statistics.hpp"
#include "hbf/kv.hpp"

namespace hbf::bench {
namespace {

constexpr uint64_t granule = 64 << 10;
constexpr uint32_t blocks = 1536; // 96 MiB a tier

// One layer of Llama-3.1-8B: 16 tokens of 8 heads of 128 fp16 numbers, keys and values, are one granule.
kv::CacheOptions one_layer(Device &device, uint32_t hbm, uint32_t hbf) {
    kv::CacheOptions options;
    options.model.query_heads = 32;
    options.model.kv_heads = 8;
    options.model.head_dim = 128;
    options.settings.kv.chunk_size = 16;
    options.background = false;
    options.dedupe = false;
    options.hbm = kv::Place{device, hbm, (blocks + 16) * granule};
    options.hbf = kv::Place{device, hbf, (blocks + 16) * granule};
    return options;
}

// Median microseconds of one block's move up to HBM, between memory that was touched before. A cache of its own each time:
// what moved up keeps its lower copy.
double moved(const kv::CacheOptions &options, std::mt19937 &random) {
    auto cache = must(kv::KvCache::open(options));
    auto sequence = must(cache.sequence());
    std::vector<uint32_t> tokens(16);
    std::vector<std::byte> keys(16 * 8 * 128 * 2), values(keys.size());
    for (uint32_t i = 0; i < blocks; ++i) {
        std::iota(tokens.begin(), tokens.end(), i * 16);
        for (size_t k = 0; k < keys.size(); k += 64) keys[k] = values[k] = static_cast<std::byte>(i + k / 64);
        auto done = sequence.append(tokens);
        if (done) done = sequence.put(0, keys, values);
        if (!done) throw std::runtime_error(done.error().message);
    }
    auto order = sequence.blocks(0);
    if (must(sequence.move_to(kv::Tier::hbf)) != blocks) throw std::runtime_error("not every block was moved down");
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> times;
    for (const kv::BlockId block : order) {
        const auto begin = measure::Clock::now();
        auto done = cache.migrate(block, kv::Tier::hbm);
        times.push_back(measure::seconds_between(begin, measure::Clock::now()) * 1e6);
        if (!done) throw std::runtime_error(done.error().message);
    }
    const auto stats = cache.stats();
    if (stats.migrated[1][0] != blocks * granule || stats.damaged != 0)
        throw std::runtime_error("not every block was moved");
    return measure::summarize(times).median;
}

} // namespace

void kv_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    Row row{"one KV granule migrated, verified and published, cold", "us", "", Bar::ratio_at_most, 1.3, {}, {}, {}, {}};
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    Device &device = system.devices().front();
    std::optional<uint32_t> hbm, hbf;
    for (const TierInfo &tier : device.tiers()) {
        if (!hbm && tier.kind == TierKind::hbm && tier.cpu_access) hbm = tier.index;
        if (!hbf && tier.kind == TierKind::hbf && tier.cpu_access) hbf = tier.index;
    }
    if (!hbm || !hbf) {
        row.missing = "this host has no two memory tiers";
        rows.push_back(std::move(row));
        return;
    }
    Arena arena(system);
    arena.deal(granule);
    uint64_t at = 0;
    const auto plain = [&](measure::ReferenceCopy kind) {
        return [&, kind] {
            return 1e6 * median_of(
                             512, [&] { at = arena.next(); },
                             [&] { measure::plain_copy(kind, arena.dst.address + at, arena.src.address + at, granule); });
        };
    };
    const auto options = one_layer(device, *hbm, *hbf);
    std::mt19937 random(1);
    auto figures = interleave(settings, {[&] { return moved(options, random); }, plain(measure::ReferenceCopy::libc_memcpy),
                                         plain(measure::ReferenceCopy::streaming)});
    const bool streams = measure::summarize(figures[2]).median < measure::summarize(figures[1]).median;
    row.reference = streams ? "streaming" : "memcpy";
    row.ours = std::move(figures[0]);
    row.theirs = std::move(figures[streams ? 2 : 1]);
    row.notes.push_back("by the CPU between two tiers of one memory, one layer of Llama-3.1-8B, 16 tokens");
    if (!arena.cold) row.notes.push_back("cache-hot: too little memory for a cold arena");
    rows.push_back(std::move(row));
}

} // namespace hbf::bench
