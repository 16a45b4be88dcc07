// SPDX-License-Identifier: Apache-2.0
// Random reads of the storage tier into the DRAM tier, beside fio on the same file: io_uring, O_DIRECT, queue depth 16.
#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/fio.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "hbf/system.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::bench {
namespace {

using measure::Clock;
using measure::seconds_between;

constexpr uint64_t file_size = 1ull << 30;
constexpr size_t depth = 16;
constexpr double try_seconds = 1;
constexpr const char *region_name = "bench";
constexpr kernels::PatternKey key{77, 1, false};

uint32_t tier_of(Device &device, TierKind kind) {
    const auto tiers = device.tiers();
    auto found = std::find_if(tiers.begin(), tiers.end(), [&](const TierInfo &tier) { return tier.kind == kind; });
    if (found == tiers.end()) throw std::runtime_error("this host has no memory tier, or no storage tier");
    return found->index;
}

// A file of 1 GiB that was written, so that reads reach the disk and not a hole.
class Reads {
public:
    Reads(Device &device, const Settings &settings) : device_(device) {
        const uint32_t storage = tier_of(device, TierKind::cold);
        memory_ = must(device.allocate(tier_of(device, TierKind::hbm), depth << 20));
        queue_ = must(device.create_queue({depth, 1}));
        const Region made = must(device.allocate(storage, file_size, {.name = region_name})).region;
        settings.tell("writing 1 GiB for the storage rows");
        for (uint64_t at = 0; at < file_size; at += memory_.size) {
            kernels::pattern_fill(memory_.address, memory_.size, key, at);
            must(device.written_by_cpu(memory_.region, 0, memory_.size));
            batch_.clear();
            batch_.copy(made, at, memory_.region, 0, memory_.size);
            must(queue_.wait(must(queue_.submit(batch_)).value));
        }
        must(device.free(made)); // gives it its name
        file_ = must(device.allocate(storage, file_size, {.name = region_name, .open_existing = true})).region;
    }
    ~Reads() {
        queue_ = Queue();
        (void)device_.free(file_);
        (void)device_.free(memory_.region);
    }
    Reads(const Reads &) = delete;
    Reads &operator=(const Reads &) = delete;

    // GB/s of random reads of `size`, each a value of its own, sixteen under way at any time.
    double run(uint64_t size) {
        std::array<Point, depth> points;
        std::array<uint64_t, depth> places{};
        auto begin_read = [&](size_t slot) {
            places[slot] = random_() % (file_size / size) * size;
            batch_.clear();
            batch_.copy(memory_.region, slot * size, file_, places[slot], size);
            points[slot] = must(queue_.submit(batch_));
        };
        const auto begin = Clock::now();
        for (size_t slot = 0; slot < depth; ++slot) begin_read(slot);
        uint64_t reads = 0;
        for (size_t slot = 0; seconds_between(begin, Clock::now()) < try_seconds; slot = (slot + 1) % depth) {
            must(queue_.wait(points[slot].value));
            ++reads;
            begin_read(slot);
        }
        for (const Point &point : points) must(queue_.wait(point.value));
        const double seconds = seconds_between(begin, Clock::now());
        reads += depth;
        for (size_t slot = 0; slot < depth; ++slot)
            if (kernels::pattern_verify(memory_.address + slot * size, size, key, places[slot]).wrong_words)
                throw std::runtime_error(
                    fmt::format("the read of {} bytes at {:#x} is wrong: no figure", size, places[slot]));
        return static_cast<double>(reads * size) / seconds * 1e-9;
    }

private:
    Device &device_;
    RegionInfo memory_;
    Region file_;
    Queue queue_;
    Batch batch_;
    std::mt19937_64 random_{4711};
};

double fio_reads(const std::string &path, uint64_t size) {
    return fio(fmt::format("--filename={}/{} --readonly --rw=randread --bs={} --iodepth={} --size={} --norandommap "
                           "--randrepeat=0 --time_based --runtime={}",
                           path, region_name, size, depth, file_size, try_seconds));
}

} // namespace

void storage_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    struct Shape {
        const char *name;
        uint64_t size;
    };
    std::vector<Shape> wanted;
    for (Shape shape : {Shape{"storage, random reads of 64 KiB, queue depth 16", 64 << 10},
                        Shape{"storage, random reads of 1 MiB, queue depth 16", 1 << 20}})
        if (settings.wants(shape.name)) wanted.push_back(shape);
    if (wanted.empty()) return;
    if (!have_fio()) {
        for (const Shape &shape : wanted)
            rows.push_back({shape.name, "GB/s", "fio", Bar::ratio_at_least, 0.95, {}, {}, "fio is not installed", {}});
        return;
    }
    // A device of our own: fio must find the file, wherever the user's own storage is.
    Folder folder(settings.storage.empty() ? settings.build : settings.storage);
    DeviceOptions options;
    options.options = {{"storage_path", folder.path()}, {"storage_bytes", "2GiB"}};
    Device device = must(Device::open(system.selection().primary()->plugin, options));
    Reads reads(device, settings);
    const TierInfo storage = must(device.refresh(tier_of(device, TierKind::cold)));
    for (const Shape &shape : wanted) {
        settings.tell(shape.name);
        Row row{shape.name, "GB/s", "fio (io_uring, O_DIRECT, large pages)", Bar::ratio_at_least, 0.95, {}, {}, {}, {}};
        auto figures = interleave(
            settings, {[&] { return reads.run(shape.size); }, [&] { return fio_reads(folder.path(), shape.size); }});
        row.ours = figures[0];
        row.theirs = figures[1];
        if (storage.degraded) row.notes.push_back("the storage tier is not at its best here: " + storage.detail);
        rows.push_back(std::move(row));
    }
}

} // namespace hbf::bench
