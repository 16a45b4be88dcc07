// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::tools::decode {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t fill_step = 2048; // tokens put at once

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double value_of(uint16_t half) { // of the normal numbers that make_rows makes
    const int exponent = half >> 10 & 31;
    const double magnitude = std::ldexp(1024 + (half & 1023), exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

std::vector<float> queries(const Options &options, uint32_t step) {
    std::mt19937_64 dice(options.seed * 1000003 + step);
    std::normal_distribution<float> normal;
    std::vector<float> out(size_t{options.query_heads} * options.head_dim);
    for (float &x : out) x = normal(dice);
    return out;
}

Error interrupted() {
    return {Code::cancelled, "interrupted"};
}

// Up into a hottest tier that the CPU cannot fill: as many of the first blocks as it takes.
Result<> bring_up(kv::KvCache &cache, const kv::Sequence &sequence, uint32_t layers) {
    for (uint32_t layer = 0; layer < layers; ++layer)
        for (const kv::BlockId block : sequence.blocks(layer)) {
            const auto info = cache.explain(block);
            if (!info) return tl::unexpected(info.error());
            const auto tier = cache.stats().tiers[0];
            if (tier.used + info->bytes > tier.budget) return {};
            if (info->tokens < info->capacity) continue; // being filled
            if (auto moved = cache.migrate(block, kv::Tier::hbm); !moved) return moved;
        }
    return {};
}

// The farthest head's distance between the two, in parts of the second one's length.
double distance(const Options &options, const std::vector<float> &ours, const std::vector<float> &exact) {
    double most = 0;
    for (uint32_t head = 0; head < options.query_heads; ++head) {
        double off = 0, length = 0;
        for (uint32_t i = head * options.head_dim; i < (head + 1) * options.head_dim; ++i) {
            const double right = exact[i], difference = ours[i] - right;
            off += difference * difference, length += right * right;
        }
        most = std::max(most, std::sqrt(off / length));
    }
    return most;
}

// Tokens attended selectively, over what `sequence` holds.
Result<> attend_selectively(kv::Sequence &sequence, const Options &options, const Stop &stop, Selective &out) {
    kv::AttendOptions how;
    how.selective = true, how.dense_layers = 0; // the layers that run stand for those that are not dense
    std::vector<float> ours(size_t{options.query_heads} * options.head_dim), exact(ours.size());
    for (uint32_t step = 0; step <= options.steps; ++step) { // the first one warms up
        if (stop()) return tl::unexpected(interrupted());
        const auto query = queries(options, step);
        double seconds = 0;
        for (uint32_t layer = 0; layer < options.layers; ++layer) {
            const auto started = Clock::now();
            const auto report = sequence.attend(layer, query, ours, how);
            seconds += seconds_since(started);
            if (!report) return tl::unexpected(report.error());
            if (auto done = sequence.attend(layer, query, exact); !done) return done;
            out.distance = std::max(out.distance, distance(options, ours, exact));
            out.missed = std::max(out.missed, report->missed);
            if (step == 0) continue;
            for (const uint64_t bytes : report->bytes) out.run.kv_bytes += bytes;
            out.read_bytes += report->bytes_of_summaries + report->bytes_of_sketches;
            out.all_bytes += report->bytes_of_all_blocks;
        }
        if (step > 0) out.run.step_seconds.push_back(seconds);
    }
    out.read_bytes += out.run.kv_bytes;
    out.run.kv_bytes /= options.steps;
    return {};
}

// `selective`: the run that is watched, and that ends with it; nullptr: neither.
Result<Run> decode(const kv::CacheOptions &cache_options, const Options &options, const std::string &name,
                   Selective *selective, const Progress &progress, const Stop &stop) {
    const bool watched = selective != nullptr;
    Run run;
    run.name = name;
    auto cache = kv::KvCache::open(cache_options);
    if (!cache) return tl::unexpected(cache.error());
    auto sequence = cache->sequence();
    if (!sequence) return tl::unexpected(sequence.error());
    std::vector<uint32_t> tokens(fill_step);
    std::vector<uint16_t> keys, values;
    const auto put = [&](uint64_t first, uint64_t count) -> Result<> {
        for (uint64_t i = 0; i < count; ++i) tokens[i] = static_cast<uint32_t>(first + i);
        if (auto begun = sequence->append(std::span(tokens).first(count)); !begun) return begun;
        for (uint32_t layer = 0; layer < options.layers; ++layer) {
            make_rows(options, layer, first, count, true, keys);
            make_rows(options, layer, first, count, false, values);
            auto done = sequence->put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values)));
            if (!done) return done;
        }
        return {};
    };
    const auto begin = Clock::now();
    for (uint64_t at = 0; at < options.context; at += fill_step) {
        if (stop()) return tl::unexpected(interrupted());
        progress(fmt::format("{}: filling {} of {} tokens", name, at, options.context));
        if (auto done = put(at, std::min(fill_step, options.context - at)); !done) return tl::unexpected(done.error());
    }
    if (!cache_options.hbm->device.tiers()[cache_options.hbm->tier].cpu_access) {
        progress(name + ": moving blocks up");
        if (auto up = bring_up(*cache, *sequence, options.layers); !up) return tl::unexpected(up.error());
    }
    run.fill_seconds = seconds_since(begin);
    const auto moved = [&] {
        uint64_t bytes = 0;
        for (const auto &row : cache->stats().migrated)
            for (const uint64_t one : row) bytes += one;
        return bytes;
    };
    const uint64_t before = moved();
    std::vector<float> output(size_t{options.query_heads} * options.head_dim);
    for (uint32_t step = 0; step <= options.steps; ++step) { // the first one warms up
        if (stop()) return tl::unexpected(interrupted());
        progress(fmt::format("{}: token {} of {}", name, step, options.steps));
        const auto query = queries(options, step);
        if (watched && step == 1 && options.before) options.before();
        const auto started = Clock::now();
        for (uint32_t layer = 0; layer < options.layers; ++layer) {
            const auto report = sequence->attend(layer, query, output, kv::AttendOptions());
            if (!report) return tl::unexpected(report.error());
            if (step > 0) run.device_bytes += report->bytes_on_device, run.fetched_bytes += report->bytes_fetched;
            run.outputs.insert(run.outputs.end(), output.begin(), output.end());
        }
        if (step > 0) run.step_seconds.push_back(seconds_since(started));
        if (auto done = put(options.context + step, 1); !done) return tl::unexpected(done.error());
    }
    if (watched && options.after) options.after();
    run.moved_bytes = moved() - before;
    run.device_bytes /= options.steps, run.fetched_bytes /= options.steps;
    if (selective != nullptr) {
        progress("selectively");
        if (auto done = attend_selectively(*sequence, options, stop, *selective); !done) return tl::unexpected(done.error());
    }
    const auto stats = cache->stats();
    if (selective != nullptr) {
        selective->index_bytes = stats.index_bytes;
        selective->run.name = "selective", selective->run.hbm_bytes = stats.tiers[0].used;
        selective->run.hbf_bytes = stats.tiers[1].used;
    }
    run.hbm_bytes = stats.tiers[0].used;
    run.hbf_bytes = stats.tiers[1].used;
    run.kv_bytes = options.context * options.kv_heads * options.head_dim * 4 * options.layers;
    return run;
}

// Of the first token that was decoded, in the first layer.
double error_against_double(const Options &options, const std::vector<float> &outputs) {
    std::vector<uint16_t> keys, values;
    make_rows(options, 0, 0, options.context, true, keys);
    make_rows(options, 0, 0, options.context, false, values);
    const auto query = queries(options, 0);
    const uint32_t shared = options.query_heads / options.kv_heads, d = options.head_dim;
    const size_t row = size_t{options.kv_heads} * d;
    std::vector<double> scores(options.context), out(d);
    double worst = 0, largest = 0;
    for (uint32_t head = 0; head < options.query_heads; head += shared) { // one of each KV head's
        const size_t column = size_t{head / shared} * d;
        double most = -INFINITY, sum = 0;
        for (uint64_t t = 0; t < options.context; ++t) {
            double score = 0;
            for (uint32_t i = 0; i < d; ++i)
                score += static_cast<double>(query[size_t{head} * d + i]) * value_of(keys[t * row + column + i]);
            scores[t] = score / std::sqrt(d);
            most = std::max(most, scores[t]);
        }
        std::fill(out.begin(), out.end(), 0);
        for (uint64_t t = 0; t < options.context; ++t) {
            const double weight = std::exp(scores[t] - most);
            sum += weight;
            for (uint32_t i = 0; i < d; ++i) out[i] += weight * value_of(values[t * row + column + i]);
        }
        for (uint32_t i = 0; i < d; ++i) {
            largest = std::max(largest, std::abs(out[i] / sum));
            worst = std::max(worst, std::abs(out[i] / sum - outputs[size_t{head} * d + i]));
        }
    }
    return worst / largest;
}

} // namespace

double Run::median() const {
    auto sorted = step_seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

void make_rows(const Options &options, uint32_t layer, uint64_t first, uint64_t count, bool keys,
               std::vector<uint16_t> &out) {
    const uint64_t row = uint64_t{options.kv_heads} * options.head_dim;
    out.resize(count * row);
    const uint64_t base = mixed(options.seed * 4096 + layer * 2 + (keys ? 1 : 0));
    for (uint64_t i = 0; i < out.size(); i += 4) {
        uint64_t bits = mixed(base + (first * row + i));
        for (uint64_t k = i; k < std::min<uint64_t>(i + 4, out.size()); ++k, bits >>= 16) { // magnitudes from 1/4 to 1
            const auto exponent = static_cast<uint16_t>(13 + (bits >> 10 & 1));
            out[k] = static_cast<uint16_t>((bits & 0x83ff) | exponent << 10);
        }
    }
}

Result<Outcome> run(Device &device, const Options &options, const Progress &progress, const Stop &stop) {
    std::optional<uint32_t> hbm, hbf;
    for (const TierInfo &tier : device.tiers()) {
        if (tier.kind == TierKind::hbm && !hbm) hbm = tier.index;
        if (tier.kind == TierKind::hbf && !hbf && tier.cpu_access) hbf = tier.index;
    }
    if (!hbm || !hbf)
        return tl::unexpected(Error{
            Code::unsupported, "the device has no HBM tier, or no HBF tier that the CPU, which fills blocks, can reach"});
    const bool filled_below = !device.tiers()[*hbm].cpu_access;
    const auto bytes_of = [&](uint64_t tokens) {
        return tokens * options.kv_heads * options.head_dim * 4 * options.layers; // keys and values, 2 bytes each
    };
    Outcome out;
    out.kv_bytes = bytes_of(options.context);
    const uint64_t slack = bytes_of(4 * options.block + options.steps + 1) + (1 << 20);
    kv::CacheOptions cache;
    cache.model.layers = options.layers;
    cache.model.query_heads = options.query_heads;
    cache.model.kv_heads = options.kv_heads;
    cache.model.head_dim = options.head_dim;
    cache.settings.kv.chunk_size = options.block;
    cache.background = false;
    cache.dedupe = false;
    cache.name = options.name;
    cache.deadline = std::chrono::seconds(60);
    out.hbm = device.tiers()[*hbm].name;
    out.hbf = device.tiers()[*hbf].name;
    out.emulated = device.emulated();
    cache.hbm = kv::Place{device, *hbm, out.kv_bytes + slack};
    if (filled_below) cache.hbf = kv::Place{device, *hbf, out.kv_bytes + slack};
    auto full = decode(cache, options, "all in HBM", nullptr, progress, stop);
    if (!full) return tl::unexpected(full.error());
    out.full = std::move(*full);
    cache.hbm->bytes = static_cast<uint64_t>(options.hbm_share * static_cast<double>(out.kv_bytes)) + slack;
    cache.hbf = kv::Place{device, *hbf, out.kv_bytes + slack};
    auto tiered =
        decode(cache, options, fmt::format("HBM {:.3g} %", options.hbm_share * 100), &out.selective, progress, stop);
    if (!tiered) return tl::unexpected(tiered.error());
    out.tiered = std::move(*tiered);
    // Compared as numbers, with none among them that differs from itself.
    out.same_bits = out.full.outputs == out.tiered.outputs && !out.full.outputs.empty();
    progress("checking against double precision");
    out.exact_error = error_against_double(options, out.tiered.outputs);
    return out;
}

} // namespace hbf::tools::decode
