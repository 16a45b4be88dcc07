// SPDX-License-Identifier: Apache-2.0
// What comes and goes while others work: instances, queues, regions, from many threads at once.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr unsigned threads = 6;
constexpr uint64_t piece = 65536;

// Whole ranges of addresses that nobody else may be given while they are held.
class Ranges {
public:
    bool take(uint64_t begin, uint64_t size) {
        const std::lock_guard lock(mutex_);
        const auto next = held_.lower_bound({begin, 0});
        if (next != held_.end() && next->first < begin + size) return false;
        if (next != held_.begin() && std::prev(next)->second > begin) return false;
        held_.insert({begin, begin + size});
        return true;
    }
    void give_back(uint64_t begin, uint64_t size) {
        const std::lock_guard lock(mutex_);
        held_.erase({begin, begin + size});
    }

private:
    std::mutex mutex_;
    std::set<std::pair<uint64_t, uint64_t>> held_;
};

// One copy through a fresh queue of `device`, checked.
void work_once(Context &context, const Instance &device, kernels::PatternKey key, std::string_view who) {
    Regions regions(device);
    ByteAccess access(device);
    const hbf_region_info src = regions.make(device.cpu_tier(), piece), dst = regions.make(device.cpu_tier(), piece);
    write_pattern(access, src, 0, piece, key, 0);
    write_pattern(access, dst, 0, piece, poison_of(key), 0);
    Queue queue(device);
    device.must_run(queue, {copy_command(dst.region, 0, src.region, 0, piece)});
    access.refresh(dst, 0, piece);
    expect_pattern(context, device, dst, 0, static_cast<const std::byte *>(dst.address), piece, key, 0, fault::not_written,
                   who);
}

} // namespace

// Half of the threads make instances and end them, the others make queues of one that stays.
HBF_CASE("threads.create_destroy_race",
         {.rules = {"HBF-THR-1", "HBF-LIFE-7"}, .kills = {"m44_not_thread_safe"}, .needs = need::cpu_tier}) {
    Instance &stays = context.device();
    const uint64_t rounds = context.scaled(4, 80, 1500);
    run_threads(threads, [&](unsigned thread) {
        for (uint32_t round = 1; round <= (thread % 2 ? 4 * rounds : rounds); ++round) {
            const kernels::PatternKey key{static_cast<uint32_t>(context.seed()) + thread, round, false};
            if (thread % 2) {
                work_once(context, stays, key, "a queue made while others are made and ended");
                continue;
            }
            const auto [call, devices] = context.subject().probe();
            must(call, "probe while instances are made and ended");
            const auto device = context.subject().must_create();
            work_once(context, *device, key, "an instance made while others are made and ended");
        }
    });
    work_once(context, stays, {static_cast<uint32_t>(context.seed()), 0xffff, false}, "the instance that stayed");
}

// Regions are handed out to one at a time: no two share a handle or a byte, and each keeps what its owner wrote.
HBF_CASE("threads.alloc_free_race", {.rules = {"HBF-THR-1", "HBF-TIER-2", "HBF-TIER-6"},
                                     .kills = {"alloc_not_thread_safe", "free_clears_another", "freed_twice_ok"},
                                     .needs = need::cpu_tier}) {
    Instance &device = context.device();
    Ranges addresses, handles;
    const uint32_t tier = device.cpu_tier();
    const uint64_t rounds = context.scaled(30, 500, 10000);
    run_threads(threads, [&](unsigned thread) {
        Random random(context.seed() + thread);
        struct Held {
            hbf_region_info region;
            kernels::PatternKey key;
            bool alone = false; // nobody else has its bytes or its handle
        };
        std::vector<Held> held;
        const auto let_go = [&](size_t i) {
            const Held one = held[i];
            const auto *bytes = static_cast<const std::byte *>(one.region.address);
            const Evidence wrong = examine(bytes, one.region.size, one.key, 0, fault::wrong_value);
            expect(context, one.alone && wrong.fault_class.empty(), fault::lost_update,
                   "a region of {} bytes, handle {:#x}, {}, at {:#x}: {}", one.region.size, one.region.region,
                   one.alone ? "does not hold what its only owner wrote" : "was given to two threads in whole or in part",
                   wrong.offset, wrong.detail);
            // First: from free on another thread may be given them.
            addresses.give_back(reinterpret_cast<uintptr_t>(one.region.address), one.region.size);
            handles.give_back(one.region.region, 1);
            device.must_free(one.region.region);
            context.check_status(device.free(one.region.region), HBF_INVALID, "free of a region that was freed");
            held[i] = held.back();
            held.pop_back();
        };
        for (uint32_t round = 1; round <= rounds; ++round) {
            if (held.size() >= 4 || (!held.empty() && random.below(3) == 0)) let_go(random.below(held.size()));
            const uint64_t size = 4 * random.between(1, 16384);
            Held one{device.must_alloc(tier, size), {static_cast<uint32_t>(context.seed()) + thread, round, false}};
            one.region.size = size; // what is the caller's to use
            one.alone =
                addresses.take(reinterpret_cast<uintptr_t>(one.region.address), size) && handles.take(one.region.region, 1);
            kernels::pattern_fill(one.region.address, size, one.key, 0);
            held.push_back(one);
        }
        while (!held.empty()) let_go(held.size() - 1);
    });
}

} // namespace hbf::conformance
