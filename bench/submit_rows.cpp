// SPDX-License-Identifier: Apache-2.0
// What a submit and a poll cost through the C++ API and the plugin ABI, beside calling the host's queue object directly.
#include <stdexcept>

#include <fmt/format.h>

#include "bench/allocations.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "hbf/system.hpp"
#include "plugins/host/queue/host_queue.hpp"

namespace hbf::bench {
namespace {

using measure::Clock;
using measure::seconds_between;

constexpr int turns = 20000;

class Direct {
public:
    Direct() : queue_(host::make_host_queue({4, 16}, regions_, nullptr, host::make_worker_pool(1))) {}
    double nanoseconds() {
        hbf_batch empty{sizeof(hbf_batch), sizeof(hbf_command), nullptr, 0};
        const auto begin = Clock::now();
        for (int i = 0; i < turns; ++i) {
            const auto value = queue_->submit(sdk::BatchView(empty));
            if (queue_->poll().completed < value) queue_->wait(value, UINT64_MAX);
        }
        return seconds_between(begin, Clock::now()) / turns * 1e9;
    }

private:
    host::RegionTable regions_;
    std::unique_ptr<sdk::Queue> queue_;
};

double through_api(Queue &queue, const Batch &batch, int count) {
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
        auto point = queue.submit(batch);
        if (!point) throw std::runtime_error(point.error().message);
        if (queue.completed() < point->value && !queue.wait(point->value)) throw std::runtime_error("an empty batch failed");
    }
    return seconds_between(begin, Clock::now()) / count * 1e9;
}

} // namespace

void submit_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    auto &device = system.devices().front();
    auto queue = device.create_queue({4, 16});
    if (!queue) throw std::runtime_error(queue.error().message);
    const Batch empty;
    through_api(*queue, empty, turns); // warm

    Row cost{
        "empty submit + poll through the ABI", "ns", "the host's queue object", Bar::excess_at_most, 50, {}, {}, {}, {}};
    if (settings.wants(cost.name)) {
        settings.tell(cost.name);
        Direct direct;
        auto figures =
            interleave(settings, {[&] { return through_api(*queue, empty, turns); }, [&] { return direct.nanoseconds(); }});
        cost.ours = figures[0];
        cost.theirs = figures[1];
        rows.push_back(cost);
    }

    Row memory{"allocations in 1,000 warmed submits", "calls", "", Bar::at_most, 0, {}, {}, {}, {}};
    if (!settings.wants(memory.name)) return;
    settings.tell(memory.name);
    auto a = device.allocate(0, 1 << 20), b = device.allocate(0, 1 << 20);
    if (!a || !b) throw std::runtime_error((!a ? a : b).error().message);
    Batch copy;
    copy.copy(a->region, 0, b->region, 0, 64 << 10, Integrity::next_read);
    through_api(*queue, copy, 100);
    for (size_t i = 0; i < settings.pairs; ++i) {
        const auto before = allocations();
        through_api(*queue, empty, 500);
        through_api(*queue, copy, 500);
        memory.ours.push_back(static_cast<double>(allocations() - before));
    }
    memory.notes.push_back("500 empty batches and 500 copies of a granule with CRC, every malloc of the process counted");
    rows.push_back(memory);
    *queue = Queue();
    (void)device.free(a->region);
    (void)device.free(b->region);
}

} // namespace hbf::bench
