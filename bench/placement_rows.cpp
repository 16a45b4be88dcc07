// SPDX-License-Identifier: Apache-2.0
// Placement: what an access costs the scheduler, beside the cache that anyone would write first; and what AHAS serves of the
// traces that come with the source, which is counted and not timed.
#include <algorithm>
#include <ctime>
#include <list>
#include <random>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "bench/one_cpu.hpp"
#include "bench/rows.hpp"
#include "core/engine/placement/directory.hpp"
#include "core/engine/placement/scheduler.hpp"
#include "tools/replay/capacity.hpp"
#include "tools/replay/simulate.hpp"

namespace hbf::bench {
namespace {

using kv::BlockId;
using kv::Tier;
using kv::placement::Directory;
using kv::placement::PathBlock;
using kv::placement::Scheduler;

constexpr size_t in_hbm = 1 << 20, blocks = in_hbm + in_hbm / 4, in_path = 128, accesses_per_try = 1 << 21;

// Fingerprints of blocks as popular as Zipf's law says, in no order.
std::vector<uint64_t> accesses() {
    std::vector<double> sums(blocks);
    double sum = 0;
    for (size_t i = 0; i < blocks; ++i) sums[i] = sum += 1 / static_cast<double>(i + 1);
    std::mt19937_64 random(12);
    std::uniform_real_distribution<double> any(0, sum);
    std::vector<uint64_t> all(accesses_per_try);
    for (auto &one : all) {
        const auto rank = static_cast<uint64_t>(std::lower_bound(sums.begin(), sums.end(), any(random)) - sums.begin());
        one = (std::min<uint64_t>(rank, blocks - 1) + 1) * 0xd6e8feb86659fd93u; // one to one
    }
    return all;
}

// All blocks known, HBM full, with room for the others in HBF. A miss of HBM takes the next one out and the block in.
class Ahas {
public:
    explicit Ahas(const std::vector<uint64_t> &stream) : stream_(stream), directory_(blocks) {
        kv::placement::SchedulerConfig config;
        config.hbm_room = in_hbm;
        config.hbf_room = blocks - in_hbm;
        config.most_blocks = blocks;
        auto made = Scheduler::create(config);
        if (!made) throw std::runtime_error(made.error());
        scheduler_ = std::move(*made);
        for (BlockId id = 0; id < blocks; ++id) directory_.insert((uint64_t{id} + 1) * 0xd6e8feb86659fd93u, id);
        for (BlockId id = 0; id < blocks; ++id) { // full, as the reference is
            scheduler_->placed(id, kv::no_block, id < in_hbm ? Tier::hbm : Tier::hbf);
            const PathBlock one{id, 16};
            scheduler_->use({&one, 1});
        }
        run();
    }
    size_t hits() const { return hits_; }
    const Scheduler &scheduler() const { return *scheduler_; }
    void run() {
        PathBlock path[in_path];
        hits_ = 0;
        for (size_t at = 0; at + in_path <= stream_.size(); at += in_path) {
            const uint64_t *request = &stream_[at];
            for (size_t i = 0; i < in_path; ++i) directory_.prefetch(request[i]);
            for (size_t i = 0; i < in_path; ++i) {
                path[i] = {directory_.find(request[i]), 16};
                scheduler_->prefetch(path[i].id);
            }
            scheduler_->use(path);
            for (const auto &[id, tokens] : path) {
                if (scheduler_->has(id, Tier::hbm)) {
                    ++hits_;
                    continue;
                }
                const BlockId out = take(scheduler_->victim(Tier::hbm));
                if (scheduler_->write_to(out, Tier::hbm) == Tier::hbf) {
                    if (scheduler_->full(Tier::hbf)) make_room_below();
                    scheduler_->placed(out, kv::no_block, Tier::hbf);
                }
                scheduler_->placed(id, kv::no_block, Tier::hbm);
            }
        }
    }

private:
    static BlockId take(const tl::expected<BlockId, std::string> &block) {
        if (!block) throw std::runtime_error(block.error());
        return *block;
    }
    // As the cache does: copies that are kept twice first.
    void make_room_below() {
        if (const BlockId twice = scheduler_->spare(Tier::hbf); twice != kv::no_block)
            scheduler_->removed(twice, Tier::hbf);
        else
            (void)take(scheduler_->victim(Tier::hbf));
    }

    const std::vector<uint64_t> &stream_;
    Directory directory_;
    std::unique_ptr<Scheduler> scheduler_;
    size_t hits_ = 0;
};

// std::unordered_map and std::list: a hit moves to the front, a miss takes the last one out.
class PlainLru {
public:
    explicit PlainLru(const std::vector<uint64_t> &stream) : stream_(stream) {
        where_.reserve(in_hbm + 1);
        for (uint64_t i = 0; i < in_hbm; ++i) bring((i + 1) * 0xd6e8feb86659fd93u);
        run();
    }
    void run() {
        for (const uint64_t fingerprint : stream_) {
            if (const auto found = where_.find(fingerprint); found != where_.end())
                order_.splice(order_.begin(), order_, found->second);
            else
                bring(fingerprint);
        }
    }

private:
    void bring(uint64_t fingerprint) {
        if (where_.size() >= in_hbm) {
            where_.erase(order_.back());
            order_.pop_back();
        }
        order_.push_front(fingerprint);
        where_.emplace(fingerprint, order_.begin());
    }

    const std::vector<uint64_t> &stream_;
    std::list<uint64_t> order_;
    std::unordered_map<uint64_t, std::list<uint64_t>::iterator> where_;
};

// Of this thread, so that others on the machine do not count.
double cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void speed_rows(const Settings &settings, std::vector<Row> &rows) {
    Row absolute{"scheduler access, 1 M blocks, one core", "ns", "hash and list LRU", Bar::at_most, 50, {}, {}, {}, {}};
    Row relative{
        "scheduler access against hash and list LRU", "ns", "hash and list LRU", Bar::ratio_at_most, 0.5, {}, {}, {}, {}};
    if (!settings.wants(absolute.name) && !settings.wants(relative.name)) return;
    settings.tell(absolute.name);
    const OneCpu here;
    const auto stream = accesses();
    Ahas ahas(stream);
    PlainLru lru(stream);
    const auto nanoseconds = [&](auto &one) {
        const double begin = cpu_nanoseconds();
        one.run();
        return (cpu_nanoseconds() - begin) / static_cast<double>(stream.size());
    };
    const auto figures = interleave(settings, {[&] { return nanoseconds(ahas); }, [&] { return nanoseconds(lru); }});
    const auto percent = [&](size_t hits) { return 100.0 * static_cast<double>(hits) / static_cast<double>(stream.size()); };
    for (Row *row : {&absolute, &relative}) {
        row->ours = figures[0];
        row->theirs = figures[1];
        row->notes.push_back(
            fmt::format("Zipf 1.0 over {} blocks, {} in HBM, the others in HBF; lookup, both tiers' heat, ghosts, "
                        "victims; CPU {}",
                        blocks, in_hbm, here.cpu()));
        row->notes.push_back(fmt::format("CPU time; {:.1f} % of the uses hit HBM; half-life {:.0f} requests of {} blocks",
                                         percent(ahas.hits()), ahas.scheduler().half_life(), in_path));
        row->notes.push_back(fmt::format("{:.0f} bytes of metadata a block, and {} for its lookup",
                                         static_cast<double>(ahas.scheduler().metadata_bytes()) / blocks, 2 * 16));
        if (settings.wants(row->name)) rows.push_back(std::move(*row));
    }
}

// Counted once: it is the same each time.
void served_rows(const Settings &settings, std::vector<Row> &rows) {
    for (const char *name : {"conversation", "synthetic"}) {
        std::optional<replay::Trace> trace;
        const auto load = [&]() -> const replay::Trace & {
            if (!trace) {
                auto read = replay::read_trace(fmt::format(HBF_BENCH_TRACES "/mooncake_{}.csv.zst", name), "auto");
                if (!read) throw std::runtime_error(read.error());
                trace = std::move(*read);
            }
            return *trace;
        };
        const auto policy = [&](const char *which, const char *share, bool lower) {
            const auto capacity = replay::parse_capacity(share, load(), 1)->blocks;
            return *kv::placement::make_policy(which, capacity, load().blocks, {0, lower});
        };
        const auto lost = [](const replay::Tally &tally) { return 100 * (1 - tally.share()); };
        for (const char *share : {"1%", "5%", "10%", "20%", "40%"}) {
            const bool least = std::string_view(share) == "1%";
            Row row{fmt::format("tokens to compute again, {}, HBM {}", name, share),
                    "%",
                    "leaf-first LRU",
                    least ? Bar::at_most : Bar::excess_at_most,
                    least ? (std::string_view(name) == "conversation" ? 89.5 : 95.6) : 0.5,
                    {},
                    {},
                    {},
                    {}};
            if (!settings.wants(row.name)) continue;
            settings.tell(row.name);
            row.ours = {lost(replay::replay(load(), *policy("ahas", share, false)))};
            row.theirs = {lost(replay::replay(load(), *policy("lru", share, false)))};
            row.notes.push_back("counted, not timed: the same in every run");
            rows.push_back(std::move(row));
        }
        Row down{fmt::format("bytes moved down, {}, HBM 1% and HBF 10%", name),
                 "blocks a request",
                 "lazy-copy LRU",
                 Bar::ratio_at_most,
                 1,
                 {},
                 {},
                 {},
                 {}};
        Row again{fmt::format("tokens to compute again, {}, HBM 1% and HBF 10%", name),
                  "%",
                  "lazy-copy LRU",
                  Bar::excess_at_most,
                  0,
                  {},
                  {},
                  {},
                  {}};
        if (!settings.wants(down.name) && !settings.wants(again.name)) continue;
        settings.tell(down.name);
        for (const char *which : {"ahas", "lru"}) {
            const auto tally = replay::replay(load(), *policy(which, "1%", false), *policy(which, "10%", true));
            const bool ours = std::string_view(which) == "ahas";
            (ours ? down.ours
                  : down.theirs) = {static_cast<double>(tally.down_blocks) / static_cast<double>(load().requests())};
            (ours ? again.ours : again.theirs) = {lost(tally)};
        }
        for (Row *row : {&down, &again}) {
            row->notes.push_back("counted, not timed: the same in every run");
            if (settings.wants(row->name)) rows.push_back(std::move(*row));
        }
    }
}

} // namespace

void placement_rows(const Settings &settings, std::vector<Row> &rows) {
    served_rows(settings, rows);
    speed_rows(settings, rows);
}

} // namespace hbf::bench
