// SPDX-License-Identifier: Apache-2.0
// Launches among copies and fills: what a queue orders, what a barrier does, what a wait holds back.
#include <cstring>

#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/kernels/copy_kernel.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t extent = 256 << 10, slot = 16 << 10;

// Copies by kernel and by engine and fills that touch the same ranges, many in flight, against a model of the same steps one
// after the other.
class Traffic {
public:
    Traffic(Context &context, const CopyKernel &copy, uint32_t tier)
        : device_(context.device()), copy_(copy), name_(device_.tier(tier).name), regions_(device_), access_(device_),
          queue_(device_), random_(context.seed() + tier) {
        for (uint32_t i = 0; i < 2; ++i) {
            region_.push_back(regions_.make(tier, extent));
            model_.emplace_back(extent);
            kernels::pattern_fill(model_[i].data(), extent, {static_cast<uint32_t>(context.seed()), i, false}, 0);
            access_.write(region_[i], 0, model_[i]);
        }
    }

    void some(uint64_t values) {
        for (uint64_t i = 0; i < values; ++i) {
            const uint64_t to = random_.below(2), kind = random_.below(6);
            // Small ones keep to one corner, so that they meet each other and the large ones.
            const uint64_t size = random_.below(8) ? random_.between(1, 2048) : random_.between(extent / 2, extent - 4096);
            const uint64_t dst = 8 * random_.below(256), src = 8 * random_.below(256);
            const hbf_region dst_region = region_[to].region, src_region = region_[1 - to].region;
            if (kind == 0) {
                const auto pattern = static_cast<uint8_t>(random_());
                std::memset(model_[to].data() + dst, pattern, size);
                submit_when_free(device_, queue_, {fill_command(dst_region, dst, size, pattern, 1)}, value_);
                continue;
            }
            std::memcpy(model_[to].data() + dst, model_[1 - to].data() + src, size);
            const Launch launch = copy_.launch(dst_region, dst, src_region, src, size);
            submit_when_free(device_, queue_,
                             {kind == 1 ? copy_command(dst_region, dst, src_region, src, size) : launch.command()}, value_);
        }
        device_.must_complete(queue_, value_);
    }
    void verify(Context &context) {
        for (size_t i = 0; i < 2; ++i) {
            const auto actual = access_.read(region_[i], 0, extent);
            context.count_check();
            if (actual == model_[i]) continue;
            Evidence evidence = difference(fault::order, name_, region_[i], 0, model_[i], actual);
            evidence.detail =
                fmt::format("after launches, copies and fills of the same ranges, byte {:#x} of {} is {:#04x}; "
                            "one after the other leaves {:#04x}",
                            evidence.offset, name_, evidence.actual, evidence.expected);
            fail_with(std::move(evidence));
        }
    }

private:
    const Instance &device_;
    const CopyKernel &copy_;
    const std::string name_;
    Regions regions_;
    ByteAccess access_;
    const Queue queue_;
    Random random_;
    std::vector<hbf_region_info> region_;
    std::vector<std::vector<std::byte>> model_;
    uint64_t value_ = 0;
};

HBF_CASE("kernels.order.values_of_a_queue_conflict", {.rules = {"HBF-KRN-5", "HBF-QUEUE-2"},
                                                      .kills = {"launch_reordered", "launch_nothing"},
                                                      .needs = need::launch | need::cpu_tier,
                                                      .limit_s = 60}) {
    const CopyKernel copy(context);
    for (const uint32_t tier : kernel_tiers(context.device())) {
        Traffic traffic(context, copy, tier);
        for (uint64_t round = 0; round < context.scaled(4, 60, 1000); ++round) {
            traffic.some(32);
            traffic.verify(context);
        }
    }
}

// What comes out at the end of several steps: the pattern, unless a step began before the one it needs.
void expect_arrived(Context &context, ByteAccess &access, const hbf_region_info &dst, uint64_t offset, uint64_t size,
                    const kernels::PatternKey &key, std::string_view what) {
    const auto bytes = access.read(dst, offset, size);
    expect_pattern(context, context.device(), dst, offset, bytes.data(), size, key, 0, fault::order, what);
}

HBF_CASE("kernels.order.barrier_kept_in_batch", {.rules = {"HBF-KRN-5", "HBF-QUEUE-2"},
                                                 .kills = {"barrier_dropped"},
                                                 .needs = need::launch | need::cpu_tier,
                                                 .limit_s = 60}) {
    Instance &device = context.device();
    const CopyKernel copy(context);
    ByteAccess access(device);
    for (const uint32_t tier : kernel_tiers(device)) {
        Regions regions(device);
        const hbf_region_info src = regions.make(tier, extent), middle = regions.make(tier, extent),
                              dst = regions.make(tier, extent);
        const Queue queue(device, 0, 7);
        for (uint32_t round = 1; round <= context.scaled(10, 100, 2000); ++round) {
            const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
            const uint64_t size = round % 2 ? extent : 4096;
            write_pattern(access, src, 0, size, key, 0);
            write_pattern(access, dst, 0, size, poison_of(key), 0);
            const bool kernel_first = round % 4 < 2;
            const hbf_region a = src.region, b = middle.region, c = dst.region;
            const Launch first = copy.launch(b, 0, a, 0, size), second = copy.launch(c, 0, b, 0, size);
            device.must_run(queue, {kernel_first ? first.command() : copy_command(b, 0, a, 0, size), barrier_command(),
                                    kernel_first ? copy_command(c, 0, b, 0, size) : second.command(), barrier_command(),
                                    fill_command(b, 0, size, 0, 1), barrier_command(), fill_command(a, 0, size, 0xff, 1)});
            expect_arrived(context, access, dst, 0, size, key,
                           fmt::format("a launch and a copy one after the other in {}, a barrier between each two",
                                       device.tier(tier).name));
        }
    }
}

HBF_CASE("kernels.order.waits_hold_across_queues", {.rules = {"HBF-KRN-5", "HBF-QUEUE-2"},
                                                    .kills = {"wait_dropped", "mi300x_wait_ignored"},
                                                    .needs = need::launch | need::cpu_tier,
                                                    .limit_s = 60}) {
    Instance &device = context.device();
    const CopyKernel copy(context);
    ByteAccess access(device);
    Backlog backlog(device, 0.01);
    for (const uint32_t tier : kernel_tiers(device)) {
        Regions regions(device);
        const hbf_region_info src = regions.make(tier, slot), dst = regions.make(tier, 4 * slot);
        const Queue second(device), third(device), fourth(device);
        for (uint32_t round = 1; round <= context.scaled(6, 100, 2000); ++round) {
            const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
            write_pattern(access, src, 0, slot, key, 0);
            for (uint64_t i = 0; i < 4; ++i) write_pattern(access, dst, i * slot, slot, poison_of(key), 0);
            // Work, then by kernel src -> 0; copied 0 -> 1; by kernel 1 -> 2; by another queue's kernel 2 -> 3.
            (void)backlog.add();
            const hbf_region to = dst.region;
            const Launch in = copy.launch(to, 0, src.region, 0, slot), on = copy.launch(to, 2 * slot, to, slot, slot),
                         last = copy.launch(to, 3 * slot, to, 2 * slot, slot);
            const uint64_t a = device.must_submit(backlog.queue(), {in.command()});
            const uint64_t b =
                device.must_submit(second, {wait_command(backlog.queue(), a), copy_command(to, slot, to, 0, slot)});
            const uint64_t c = device.must_submit(third, {wait_command(second, b), on.command()});
            const uint64_t d = device.must_submit(fourth, {wait_command(third, c), last.command()});
            device.must_complete(fourth, d);
            for (uint64_t i = 0; i < 4; ++i)
                expect_arrived(context, access, dst, i * slot, slot, key,
                               fmt::format("step {} of four that wait for one another, each on its own queue", i + 1));
        }
    }
}

} // namespace
} // namespace hbf::conformance
