// SPDX-License-Identifier: Apache-2.0
// Exact decoding through the cache with a share of the keys and values in HBM and the rest below: in HBF that is memory,
// in HBF on storage, and behind a simulated link. One layer of a model with 128 channels a head, fp16; one core.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/arena.hpp"
#include "bench/one_cpu.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/statistics.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/host_memory.hpp"
#include "core/engine/attention/memory_place.hpp"
#include "core/engine/attention/source_place.hpp"
#include "hbf/kv.hpp"

namespace hbf::bench {
namespace {

constexpr uint32_t query_heads = 32, dim = 128, block_tokens = 64;

void check(const Result<> &done) {
    if (!done) throw std::runtime_error(done.error().message);
}

std::optional<uint32_t> tier_of(Device &device, TierKind kind, bool by_cpu) {
    for (const TierInfo &tier : device.tiers())
        if (tier.kind == kind && tier.cpu_access == by_cpu) return tier.index;
    return std::nullopt;
}

uint64_t bytes_of(uint32_t tokens, uint32_t kv_heads) {
    return uint64_t{tokens} * kv_heads * dim * 4; // keys and values, 2 bytes each
}

// fp16 numbers from 1/4 to 1, of either sign.
void numbers(std::vector<uint16_t> &out, uint64_t &state) {
    for (uint16_t &word : out) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        word = static_cast<uint16_t>((state >> 40 & 0x83ff) | (13 + (state >> 33 & 1)) << 10);
    }
}

// A context of one layer in a cache of its own.
class Decoding {
public:
    Decoding(Device &device, uint32_t tokens, uint32_t kv_heads, double share, uint32_t hbm, std::optional<uint32_t> below)
        : bytes(bytes_of(tokens, kv_heads)), cache_(open(device, bytes, kv_heads, share, hbm, below)),
          sequence_(must(cache_.sequence())), query_(query_heads * dim), output_(query_.size()) {
        constexpr uint32_t step = 2048;
        std::vector<uint32_t> names(step);
        std::vector<uint16_t> keys(size_t{step} * kv_heads * dim), values(keys.size());
        uint64_t state = 1;
        for (uint32_t at = 0; at < tokens; at += step) {
            std::iota(names.begin(), names.end(), at);
            numbers(keys, state), numbers(values, state);
            check(sequence_.append(names));
            check(sequence_.put(0, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
        }
        for (size_t i = 0; i < query_.size(); ++i) query_[i] = static_cast<float>(i % 17) / 16 - 0.5f;
    }

    kv::AttendReport attend() { return must(sequence_.attend(0, query_, output_, kv::AttendOptions())); }
    // GB/s of keys and values attended, after a token that is not counted.
    double rate(uint32_t tokens = 1) {
        const auto one = [&] { (void)attend(); };
        return tokens * static_cast<double>(bytes) * 1e-9 / median_of(1, one, [&] {
                   for (uint32_t token = 0; token < tokens; ++token) one();
               });
    }
    kv::CacheStats stats() const { return cache_.stats(); }
    const std::vector<float> &output() const { return output_; }

    const uint64_t bytes;

private:
    static kv::KvCache open(Device &device, uint64_t bytes, uint32_t kv_heads, double share, uint32_t hbm,
                            std::optional<uint32_t> below) {
        const uint64_t slack = bytes_of(8 * block_tokens, kv_heads) + (1 << 20);
        kv::CacheOptions options;
        options.model.query_heads = query_heads, options.model.kv_heads = kv_heads, options.model.head_dim = dim;
        options.settings.kv.chunk_size = block_tokens;
        options.background = options.dedupe = options.show = false;
        options.deadline = std::chrono::seconds(60);
        options.hbm = kv::Place{device, hbm, static_cast<uint64_t>(share * static_cast<double>(bytes)) + slack};
        if (below) options.hbf = kv::Place{device, *below, bytes + slack};
        return must(kv::KvCache::open(options));
    }

    kv::KvCache cache_;
    kv::Sequence sequence_;
    std::vector<float> query_, output_;
};

std::string crossed(const Decoding &decoding, const kv::AttendReport &report) {
    const auto stats = decoding.stats();
    return fmt::format("HBM holds {:.0f} MiB, HBF {:.0f}; of {:.0f} MiB a token {:.0f} come from HBF",
                       static_cast<double>(stats.tiers[0].used) / (1 << 20),
                       static_cast<double>(stats.tiers[1].used) / (1 << 20), static_cast<double>(decoding.bytes) / (1 << 20),
                       static_cast<double>(report.bytes[1]) / (1 << 20));
}

uint64_t free_memory() {
    return static_cast<uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void memory_row(const Settings &settings, Device &device, uint32_t kv_heads, double share, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    constexpr uint32_t tokens = 131072;
    settings.tell(row.name);
    const auto hbm = tier_of(device, TierKind::hbm, true), hbf = tier_of(device, TierKind::hbf, true);
    if (!hbm || !hbf) {
        row.missing = "no device here has HBM and HBF that the CPU reaches";
    } else if (free_memory() < 5 * bytes_of(tokens, kv_heads) / 2) {
        row.missing = "too little memory for the context twice";
    } else {
        const OneCpu here;
        Decoding full(device, tokens, kv_heads, 1, *hbm, std::nullopt), tiered(device, tokens, kv_heads, share, *hbm, hbf);
        const auto report = tiered.attend();
        (void)full.attend();
        if (full.output() != tiered.output()) throw std::runtime_error("tiers changed the bits of attention: no figure");
        auto figures = interleave(settings, {[&] { return tiered.rate(); }, [&] { return full.rate(); }});
        row.ours = figures[0], row.theirs = figures[1];
        row.notes.push_back(crossed(tiered, report));
        const double gib = 32.0 * static_cast<double>(tiered.bytes) / (1 << 30);
        row.notes.push_back(
            fmt::format("1 layer runs; 32 of them have {:.1f} GiB of keys and values, {:.1f} of it in HBM", gib,
                        gib * static_cast<double>(tiered.stats().tiers[0].used) / static_cast<double>(tiered.bytes)));
    }
    rows.push_back(std::move(row));
}

// Reading a file of the storage tier in pieces of 1 MiB, sixteen under way: what the engine's windows are.
class PlainReads {
public:
    PlainReads(Device &device, uint32_t tier, uint64_t size)
        : device_(device), size_(size / piece * piece), memory_(must(kv::HostMemory::take(depth * piece))),
          here_(must(device.register_host(memory_.bytes())).region), queue_(must(device.create_queue())),
          file_(must(device.allocate(tier, size_)).region) {
        std::fill(memory_.bytes().begin(), memory_.bytes().end(), std::byte{7});
        for (uint64_t at = 0; at < size_; at += piece) {
            Batch batch;
            batch.copy(file_, at, here_, 0, piece);
            must(queue_.wait(must(queue_.submit(batch)).value));
        }
    }
    ~PlainReads() {
        queue_ = Queue();
        (void)device_.free(file_), (void)device_.free(here_);
    }
    PlainReads(const PlainReads &) = delete;
    PlainReads &operator=(const PlainReads &) = delete;

    double rate(uint32_t tokens) {
        const uint64_t all = tokens * size_;
        return static_cast<double>(all) * 1e-9 /
               median_of(
                   1, [] {},
                   [&] {
                       std::vector<Point> points;
                       for (uint64_t at = 0; at < all; at += piece) {
                           if (points.size() >= depth) must(queue_.wait(points[points.size() - depth].value));
                           Batch batch;
                           batch.copy(here_, at / piece % depth * piece, file_, at % size_, piece);
                           points.push_back(must(queue_.submit(batch)));
                       }
                       must(queue_.wait(points.back().value));
                   });
    }

private:
    static constexpr uint64_t piece = 1 << 20, depth = 16;
    Device &device_;
    const uint64_t size_;
    kv::HostMemory memory_;
    Region here_;
    Queue queue_;
    Region file_;
};

void storage_row(const Settings &settings, Device &device, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    constexpr uint32_t tokens = 16384, kv_heads = 8, at_once = 4; // so that what was fetched before the first hardly counts
    settings.tell(row.name);
    const auto hbm = tier_of(device, TierKind::hbm, true), storage = tier_of(device, TierKind::cold, false);
    if (!hbm || !storage) {
        row.missing = "no device here has HBM and a storage tier";
    } else {
        Decoding tiered(device, tokens, kv_heads, 0.2, *hbm, storage), full(device, tokens, kv_heads, 1, *hbm, std::nullopt);
        PlainReads plain(device, *storage, tiered.bytes * 8 / 10);
        (void)full.attend();
        for (int warm = 0; warm < 3; ++warm) (void)tiered.attend(); // from the second on the next token's blocks come ahead
        const auto report = tiered.attend();
        if (full.output() != tiered.output()) throw std::runtime_error("tiers changed the bits of attention: no figure");
        const double share = static_cast<double>(report.bytes[1]) / static_cast<double>(tiered.bytes);
        auto figures =
            interleave(settings, {[&] { return tiered.rate(at_once) * share; }, [&] { return plain.rate(at_once); }});
        row.ours = figures[0], row.theirs = figures[1];
        row.notes.push_back(crossed(tiered, report));
        row.notes.push_back("bytes that come from storage, verified; 1 layer runs, the next token's blocks come meanwhile");
    }
    rows.push_back(std::move(row));
}

// Memory behind a link of a stated bandwidth: what has been asked for is there when so much could have come.
class LinkSource final : public kv::BlockSource {
public:
    using Clock = std::chrono::steady_clock;
    LinkSource(std::span<const std::byte> behind, double bandwidth) : behind_(behind), bandwidth_(bandwidth) {}
    uint64_t size() const noexcept override { return behind_.size(); }
    Result<> attach(std::span<std::byte> memory) override {
        memory_ = memory;
        return {};
    }
    Result<uint64_t> start(std::span<const kv::Fetch> fetches) override {
        const auto now = Clock::now();
        double bytes = 0;
        for (const kv::Fetch &fetch : fetches) {
            std::memcpy(memory_.data() + fetch.into, behind_.data() + fetch.offset, fetch.size);
            bytes += static_cast<double>(fetch.size);
        }
        free_ = std::max(free_, now) +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bytes / bandwidth_));
        due_.push_back(free_);
        return due_.size() - 1;
    }
    Result<> wait(uint64_t ticket) override {
        std::this_thread::sleep_until(due_[ticket]);
        return {};
    }
    void discard(uint64_t) noexcept override {}

private:
    std::span<const std::byte> behind_;
    std::span<std::byte> memory_;
    double bandwidth_;
    Clock::time_point free_{};
    std::vector<Clock::time_point> due_;
};

void link_row(const Settings &settings, Row row, std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    constexpr uint32_t tokens = 32768, kv_heads = 8;
    constexpr double bandwidth = 1e9;
    settings.tell(row.name);
    const OneCpu here;
    const kv::kv_shape shape{query_heads,  kv_heads,         dim,
                             block_tokens, HBF_ELEMENT_FP16, 1 / std::sqrt(static_cast<float>(dim))};
    const uint64_t size = kernels::device::kv_block_size(shape), count = tokens / block_tokens;
    kv::HostMemory memory = must(kv::HostMemory::take(count * size));
    std::vector<uint16_t> words(memory.bytes().size() / 2);
    uint64_t state = 1;
    numbers(words, state);
    std::memcpy(memory.bytes().data(), words.data(), memory.bytes().size());
    kv::MemoryPlace near(memory.bytes().data(), memory.bytes().size());
    const auto far = must(kv::SourcePlace::open(std::make_unique<LinkSource>(memory.bytes(), bandwidth)));
    kv::AttendPlace *const places[] = {&near, far.get()};
    std::vector<kv::Block> blocks;
    uint64_t over_link = 0;
    for (uint64_t i = 0; i < count; ++i) {
        blocks.push_back({{i * size, block_tokens, 0}, i % 5 == 0 ? 0u : 1u});
        over_link += i % 5 == 0 ? 0 : size;
    }
    std::vector<float> query(query_heads * dim, 0.01f), output(query.size());
    kv::ExactAttention attention;
    attention.prefetch(shape, places, blocks);
    const auto rate = [&] {
        return static_cast<double>(over_link) * 1e-9 /
               median_of(
                   1, [] {},
                   [&] {
                       attention.prefetch(shape, places, blocks); // of the next token
                       check(attention.attend(shape, places, blocks, query.data(), 1, output.data()));
                   });
    };
    (void)rate();
    auto figures = interleave(settings, {rate, [&] { return bandwidth * 1e-9; }});
    row.ours = figures[0], row.theirs = figures[1];
    row.notes.push_back(fmt::format("SIMULATED link; {:.0f} of {:.0f} MiB a token come over it; 1 layer runs",
                                    static_cast<double>(over_link) / (1 << 20),
                                    static_cast<double>(count * size) / (1 << 20)));
    rows.push_back(std::move(row));
}

Row row_of(std::string name, std::string reference, double bar) {
    return {std::move(name), "GB/s", std::move(reference), Bar::ratio_at_least, bar, {}, {}, {}, {}};
}

} // namespace

void tier_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    Device &device = system.devices().front();
    memory_row(settings, device, 8, 0.2, row_of("exact decode, 128K, 20 % in HBM, HBF is memory", "all in HBM", 0.85), rows);
    memory_row(settings, device, 32, 0.026,
               row_of("exact decode, 128K, 32 KV heads, 2.6 % in HBM, HBF is memory", "all in HBM", 0.85), rows);
    storage_row(settings, device, row_of("exact decode, 16K, 20 % in HBM, HBF on storage", "reading storage", 0.90), rows);
    link_row(settings, row_of("exact decode, 32K, 20 % in HBM, HBF behind a simulated link", "the link, as stated", 0.90),
             rows);
}

} // namespace hbf::bench
