// SPDX-License-Identifier: Apache-2.0
// The cold tier's log beside fio on the same disk: io_uring, O_DIRECT. Every granule that is read has its checksum verified.
#include <array>
#include <cstring>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/fio.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "core/engine/cold/log.hpp"
#include "core/engine/cold/pages.hpp"

namespace hbf::bench {
namespace {

using namespace kv;
using measure::Clock;
using measure::seconds_between;

constexpr uint64_t capacity = 1ull << 30, group = 200; // granules a commit
constexpr uint32_t depth = 16;
constexpr double try_seconds = 1;

class ColdLog {
public:
    explicit ColdLog(const std::string &folder) : folder_(folder) {
        cold::LogOptions options;
        options.folder = folder + "/log";
        options.owner.model.bytes[0] = options.owner.layout.bytes[0] = 1;
        options.capacity = capacity;
        log_ = must(cold::Log::open(options));
        std::mt19937_64 random(4711);
        for (size_t at = 0; at < source_.size(); at += sizeof(uint64_t)) source_.as<uint64_t>(at) = random();
        // Once all over, so that every byte of every segment was written before: as the file that fio writes.
        while (log_->stats().evicted == 0) append_group();
        for (int i = 0; i < 3; ++i) append_group();
    }

    double append() {
        const auto begin = Clock::now();
        uint64_t granules = 0;
        for (; seconds_between(begin, Clock::now()) < try_seconds; granules += group) append_group();
        return static_cast<double>(granules * granule_size) / seconds_between(begin, Clock::now()) * 1e-9;
    }

    double read() {
        auto reader = must(log_->make_reader(depth));
        std::array<uint64_t, depth> free;
        uint64_t free_count = depth, reads = 0;
        for (uint64_t slot = 0; slot < depth; ++slot) free[slot] = slot;
        const auto begin = Clock::now();
        for (bool more = true; more || reader->in_flight() > 0;) {
            more = more && seconds_between(begin, Clock::now()) < try_seconds;
            while (more && free_count > 0) {
                const uint64_t slot = free[--free_count];
                // Of the last three quarters: those are there.
                const uint64_t back = random_() % (capacity / granule_size * 3 / 4);
                reader->begin({key(next_ - 1 - back), target_.data() + slot * granule_size, granule_size, slot});
            }
            cold::ReadDone done[2]; // the rest waits in the ring, and the disk for nobody
            const size_t count = reader->finish(done, true);
            for (size_t i = 0; i < count; ++i) {
                must(done[i].result);
                free[free_count++] = done[i].tag;
            }
            reads += count;
        }
        return static_cast<double>(reads * granule_size) / seconds_between(begin, Clock::now()) * 1e-9;
    }

    std::string notes() const {
        std::string all;
        for (const std::string &note : log_->notes()) all += (all.empty() ? "" : "; ") + note;
        return all;
    }

    // The segments, as fio takes several files.
    std::string files() const {
        std::string names;
        for (uint64_t i = 0; i < log_->stats().segments; ++i)
            names += fmt::format("{}{}/log/segment-{:06}", names.empty() ? "" : ":", folder_, i);
        return names;
    }

private:
    static cold::Key key(uint64_t number) {
        cold::Key key; // digests are spread evenly, and the index counts on that
        const uint64_t spread = (number + 1) * 0x9e3779b97f4a7c15u, word = spread ^ spread >> 32;
        std::memcpy(key.block.bytes.data(), &word, sizeof word);
        key.block.bytes[31] = 1;
        return key;
    }
    void append_group() {
        for (uint64_t i = 0; i < group; ++i, ++next_)
            must(log_->append(key(next_), next_, {source_.data() + next_ * granule_size % source_.size(), granule_size}));
        must(log_->commit());
    }

    const std::string folder_;
    std::unique_ptr<cold::Log> log_;
    cold::Pages source_{64 << 20}, target_{depth * granule_size};
    uint64_t next_ = 0;
    std::mt19937_64 random_{17};
};

} // namespace

void cold_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string append = fmt::format("cold log, append of 64 KiB, a commit per {}", group);
    const std::string read = fmt::format("cold log, random reads of 64 KiB, queue depth {}", depth);
    std::vector<Row> wanted;
    if (settings.wants(append))
        wanted.push_back(
            {append, "GB/s", "fio, writes of 64 KiB, queue depth 16, fdatasync", Bar::ratio_at_least, 0.9, {}, {}, {}, {}});
    if (settings.wants(read))
        wanted.push_back({read, "GB/s", "fio on the same segments", Bar::ratio_at_least, 0.95, {}, {}, {}, {}});
    if (wanted.empty()) return;
    if (!have_fio()) {
        for (Row &row : wanted) {
            row.missing = "fio is not installed";
            rows.push_back(std::move(row));
        }
        return;
    }
    Folder folder(settings.storage.empty() ? settings.build : settings.storage);
    settings.tell("writing 1 GiB for the cold tier");
    ColdLog log(folder.path());
    for (Row &row : wanted) {
        settings.tell(row.name);
        const bool appends = row.name == append;
        if (appends) // laid out once, so that fio too writes where was written before
            fio(fmt::format("--filename={}/fio --rw=write --bs=1M --iodepth=4 --size={}", folder.path(), capacity), true);
        const std::string job =
            appends
                ? fmt::format("--filename={}/fio --overwrite=1 --rw=write --bs=64k --iodepth=16 --fdatasync={} --size={} "
                              "--time_based --runtime={}",
                              folder.path(), group, capacity, try_seconds)
                : fmt::format("--filename={} --readonly --rw=randread --bs=64k --iodepth={} --norandommap --randrepeat=0 "
                              "--time_based --runtime={}",
                              log.files(), depth, try_seconds);
        auto figures =
            interleave(settings, {[&] { return appends ? log.append() : log.read(); }, [&] { return fio(job, appends); }});
        row.ours = figures[0];
        row.theirs = figures[1];
        if (!log.notes().empty()) row.notes.push_back(log.notes());
        rows.push_back(std::move(row));
    }
}

} // namespace hbf::bench
