// SPDX-License-Identifier: Apache-2.0
// What a queue orders: values among themselves, conflicting ranges, barriers inside a batch, waits between queues.
#include <cstring>
#include <vector>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t large = 4u << 20;
constexpr double patience_s = 10;

uint64_t word_at(const hbf_region_info &region, uint64_t offset) {
    uint64_t out = 0;
    std::memcpy(&out, static_cast<const std::byte *>(region.address) + offset, sizeof out);
    return out;
}

} // namespace

// Slots that no two values in flight share, so that an engine may overlap them: they still complete in order.
HBF_CASE("async.order.queue_order_kept_where_declared",
         {.rules = {"HBF-QUEUE-1"},
          .kills = {"completes_out_of_order", "values_skip", "value_told_wrong"},
          .needs = need::cpu_tier,
          .masked = true}) {
    Instance &device = context.device();
    Regions regions(device);
    constexpr uint64_t slots = 32, in_flight = slots / 2; // half of them are read while the other half is written
    std::vector<uint64_t> offset(slots), size(slots);
    uint64_t end = 0;
    for (uint64_t i = 0; i < slots; ++i) { // the large ones are overtaken, if any is
        size[i] = i % 8 == 0 ? 2u << 20 : i % 4 == 2 ? 64u << 10 : 64;
        offset[i] = end;
        end += size[i];
    }
    const hbf_region_info region = regions.make(device.cpu_tier(), end);
    ByteAccess access(device);
    const std::vector<std::byte> zero(end);
    access.write(region, 0, zero);
    Queue queue(device);
    uint64_t shown = 0;
    const auto look = [&] {
        const uint64_t completed = device.poll(queue).completed;
        for (; shown < completed; ++shown) {
            const uint64_t value = shown + 1, slot = value % slots, last = offset[slot] + size[slot] - 8;
            access.refresh(region, last, 8);
            const uint64_t found = word_at(region, last);
            expect(context, found == value, fault::order,
                   "{} values of the queue completed, and the bytes of value {} are not there yet, but those of {}",
                   completed, value, found);
        }
    };
    const uint64_t count = context.scaled(480, 8000, 100000);
    for (uint64_t value = 1; value <= count; ++value) {
        if (value - shown > in_flight) device.must_complete(queue, value - in_flight);
        look();
        uint64_t got = value - 1;
        submit_when_free(device, queue, {fill_command(region.region, offset[value % slots], size[value % slots], value, 8)},
                         got);
        expect(context, got == value, fault::order, "submit returned {} where {} is the next value", got, value);
    }
    device.must_complete(queue, count);
    look();
}

// Ranges that conflict, many in flight, against a model of the same steps one after the other.
HBF_CASE("async.order.values_of_a_queue_conflict",
         {.rules = {"HBF-QUEUE-2"}, .kills = {"m24_ordered_reordered"}, .needs = need::cpu_tier, .limit_s = 60}) {
    Instance &device = context.device();
    constexpr uint64_t extent = 2u << 20; // more than an executor that does short work inside submit takes for short
    Regions regions(device);
    ByteAccess access(device);
    std::vector<hbf_region_info> region = {regions.make(device.cpu_tier(), extent), regions.make(device.cpu_tier(), extent)};
    std::vector<std::vector<std::byte>> model(2, std::vector<std::byte>(extent));
    for (uint32_t i = 0; i < 2; ++i) {
        kernels::pattern_fill(model[i].data(), extent, {static_cast<uint32_t>(context.seed()), i, false}, 0);
        access.write(region[i], 0, model[i]);
    }
    Queue queue(device);
    Random random(context.seed());
    const uint64_t rounds = context.scaled(6, 100, 2000), values = 48;
    uint64_t value = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        for (uint64_t i = 0; i < values; ++i) {
            const uint64_t to = random.below(2), from = 1 - to;
            const uint64_t size = random.below(12) ? random.between(1, 16384) : random.between(extent * 5 / 8, extent);
            // Small ones keep to one corner, so that they meet each other and the large ones.
            const uint64_t within = std::min<uint64_t>(extent - size, 32768);
            const uint64_t dst = random.between(0, within), src = random.between(0, within);
            hbf_command command{};
            if (random.below(3)) {
                command = copy_command(region[to].region, dst, region[from].region, src, size);
                std::memcpy(model[to].data() + dst, model[from].data() + src, size);
            } else {
                const auto pattern = static_cast<uint8_t>(random());
                command = fill_command(region[to].region, dst, size, pattern, 1);
                std::memset(model[to].data() + dst, pattern, size);
            }
            submit_when_free(device, queue, {command}, value);
        }
        device.must_complete(queue, value);
        for (uint32_t i = 0; i < 2; ++i) {
            access.refresh(region[i], 0, extent);
            const auto *bytes = static_cast<const std::byte *>(region[i].address);
            context.count_check();
            if (std::memcmp(bytes, model[i].data(), extent) == 0) continue;
            const auto differs = std::mismatch(bytes, bytes + extent, model[i].begin());
            Evidence evidence;
            evidence.fault_class = fault::order;
            evidence.tier = device.tier(region[i].tier).name;
            evidence.region = region[i].region;
            evidence.offset = static_cast<uint64_t>(differs.first - bytes);
            evidence.address = reinterpret_cast<uintptr_t>(differs.first);
            evidence.expected = static_cast<uint64_t>(*differs.second);
            evidence.actual = static_cast<uint64_t>(*differs.first);
            evidence.width = 1;
            evidence.detail =
                fmt::format("after {} values that touch the same ranges, byte {:#x} of {} is {:#04x}; one after "
                            "the other leaves {:#04x}",
                            values, evidence.offset, evidence.tier, evidence.actual, evidence.expected);
            const std::string reason = evidence.detail;
            fail(reason, std::move(evidence));
        }
    }
}

HBF_CASE("async.order.barrier_kept_in_batch",
         {.rules = {"HBF-QUEUE-2"},
          .kills = {"barrier_dropped", "a100_size_truncated", "mi300x_operations_overtake", "ze_signal_early"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    ByteAccess access(device);
    for (const uint32_t tier : device.dma_tiers()) {
        Regions regions(device);
        const hbf_region_info src = regions.make(device.cpu_tier(), large), middle = regions.make(tier, large),
                              dst = regions.make(device.cpu_tier(), large);
        Queue queue(device, 0, 16);
        const uint64_t rounds = context.scaled(device.cpu_access(tier) ? 12 : 4, 200, 4000);
        for (uint32_t round = 1; round <= rounds; ++round) {
            const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
            const uint64_t size = round % 2 ? large : 4096;
            write_pattern(access, src, 0, size, key, 0);
            write_pattern(access, dst, 0, size, poison_of(key), 0);
            device.must_run(queue, {copy_command(middle.region, 0, src.region, 0, size), barrier_command(),
                                    copy_command(dst.region, 0, middle.region, 0, size), barrier_command(),
                                    fill_command(middle.region, 0, size, 0, 1), barrier_command(),
                                    fill_command(src.region, 0, size, 0xff, 1)});
            access.refresh(dst, 0, size);
            expect_pattern(
                context, device, dst, 0, static_cast<const std::byte *>(dst.address), size, key, 0, fault::order,
                fmt::format("a batch of copies by way of {}, a barrier between each two", device.tier(tier).name));
        }
    }
}

HBF_CASE("async.wait.holds_across_queues", {.rules = {"HBF-QUEUE-2", "HBF-QUEUE-5"},
                                            .kills = {"wait_dropped", "waiting_value_done", "cnrt_wait_of_idle_queue",
                                                      "mi300x_wait_ignored", "mlu370_wait_ignored", "ze_barrier_passes"},
                                            .needs = need::cpu_tier}) {
    Instance &device = context.device();
    Backlog backlog(device, 0.01);
    Regions regions(device);
    ByteAccess access(device);
    const hbf_region_info src = regions.make(device.cpu_tier(), 65536), dst = regions.make(device.cpu_tier(), 4 * 65536);
    Queue second(device), third(device);
    const uint64_t rounds = context.scaled(6, 100, 2000);
    for (uint32_t round = 1; round <= rounds; ++round) {
        const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
        write_pattern(access, src, 0, 65536, key, 0);
        for (uint64_t i = 0; i < 3; ++i) write_pattern(access, dst, i * 65536, 65536, poison_of(key), 0);
        // first: work, then src -> 0;  second waits for it: 0 -> 1;  third waits for second: 1 -> 2
        (void)backlog.add();
        const uint64_t a = device.must_submit(backlog.queue(), {copy_command(dst.region, 0, src.region, 0, 65536)});
        const uint64_t b = device.must_submit(
            second, {wait_command(backlog.queue(), a), copy_command(dst.region, 65536, dst.region, 0, 65536)});
        const uint64_t c = device.must_submit(
            third, {wait_command(second, b), copy_command(dst.region, 2 * 65536, dst.region, 65536, 65536)});
        const auto begin = measure::Clock::now();
        for (bool over = false; !over;) { // later first: an earlier one that is seen afterwards can only be further
            const uint64_t of_c = device.poll(third).completed, of_b = device.poll(second).completed,
                           of_a = device.poll(backlog.queue()).completed;
            const bool in_order = (of_c < c || of_b >= b) && (of_b < b || of_a >= a);
            expect(context, in_order, fault::order, "a value completed before the one it waits for");
            over = of_c >= c;
            if (!over) (void)device.wait(third, c, 1'000'000);
            if (measure::seconds_between(begin, measure::Clock::now()) > patience_s) break; // must_complete tells
        }
        device.must_complete(third, c);
        access.refresh(dst, 0, 3 * 65536);
        for (uint64_t i = 0; i < 3; ++i)
            expect_pattern(context, device, dst, i * 65536, static_cast<const std::byte *>(dst.address) + i * 65536, 65536,
                           key, 0, fault::order,
                           fmt::format("copy {} of three that wait for one another, each on its own queue", i + 1));
    }
}

} // namespace hbf::conformance
