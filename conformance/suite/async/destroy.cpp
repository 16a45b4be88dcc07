// SPDX-License-Identifier: Apache-2.0
// What ends while work is in flight: a queue refuses to, an instance waits.
#include <memory>
#include <new>

#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 65536;

struct PageAligned { // what any device can register
    explicit PageAligned(uint64_t size) : bytes(static_cast<std::byte *>(::operator new(size, std::align_val_t{65536}))) {}
    ~PageAligned() { ::operator delete(bytes, std::align_val_t{65536}); }
    PageAligned(const PageAligned &) = delete;
    PageAligned &operator=(const PageAligned &) = delete;
    std::byte *bytes;
};

} // namespace

HBF_CASE("async.queue.destroy_in_flight_busy", {.rules = {"HBF-QUEUE-11"},
                                                .kills = {"queue_destroyed_in_flight", "busy_destroy_breaks",
                                                          "busy_destroy_as_internal", "busy_destroy_skips_value"}}) {
    Instance &device = context.device();
    Backlog backlog(device, 0.05);
    Regions regions(device);
    const hbf_region_info region = regions.make(device.dma_tiers().at(0), 4096);
    unsigned seen = 0;
    for (uint64_t round = 0; round < context.scaled(4, 60, 600); ++round) {
        // A queue of its own: should destroy end it, nothing else is harmed.
        hbf_queue *const queue = device.must_create_queue();
        const uint64_t work = backlog.add();
        const uint64_t value =
            device.must_submit(queue, {wait_command(backlog.queue(), work), fill_command(region.region, 0, 4096, round, 8)});
        const Call call = device.destroy_queue(queue);
        const bool pending = backlog.pending(work); // afterwards: then it was so during the call
        if (call.ok() && !pending) continue;        // done in time
        context.check_status(call, HBF_BUSY, "destroy of a queue with a value in flight");
        seen += pending;
        const uint64_t next = device.must_submit(queue, {fill_command(region.region, 0, 4096, round + 1, 8)});
        expect(context, next == value + 1, fault::contract, "after HBF_BUSY the queue's next value is {} where {} is due",
               next, value + 1);
        device.must_complete(queue, next);
        device.must_destroy_queue(queue);
        device.must_complete(backlog.queue(), work);
    }
    if (seen == 0) nothing_pending(context);
}

// Memory of the suite's own shows what became of the work: after destroy it is all there, and nobody writes any more.
HBF_CASE("async.instance.destroy_waits_for_work",
         {.rules = {"HBF-LIFE-8"}, .kills = {"destroy_abandons_work"}, .needs = need::cpu_tier | need::register_host}) {
    const uint64_t rounds = context.scaled(3, 30, 300);
    constexpr uint64_t copies = 8;
    unsigned seen = 0;
    for (uint32_t round = 1; round <= rounds; ++round) {
        const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
        PageAligned memory(copies * piece);
        kernels::pattern_fill(memory.bytes, copies * piece, poison_of(key), 0);
        {
            auto device = context.subject().must_create();
            // Never freed nor destroyed by hand: that is destroy's.
            hbf_region_info registered{}, src = device->must_alloc(device->cpu_tier(), copies * piece);
            hbf_queue *const queue = device->must_create_queue();
            hbf_region_info large = device->must_alloc(device->cpu_tier(), 8u << 20),
                            other = device->must_alloc(device->cpu_tier(), 8u << 20);
            const Call call = device->register_host(memory.bytes, copies * piece, registered);
            if (call.status == HBF_UNSUPPORTED) context.not_supported("register_host: " + call.message);
            must(call, "register_host");
            {
                ByteAccess access(*device);
                write_pattern(access, src, 0, copies * piece, key, 0);
            }
            uint64_t value = 0;
            for (uint64_t i = 0; i < copies; ++i) {
                (void)device->must_submit(queue, {copy_command(large.region, 0, other.region, 0, 8u << 20)});
                value =
                    device->must_submit(queue, {copy_command(registered.region, i * piece, src.region, i * piece, piece)});
            }
            seen += device->poll(queue).completed < value;
        } // destroy, with all that in flight
        const Evidence wrong = examine(memory.bytes, copies * piece, key, 0, fault::not_written);
        context.count_check();
        if (wrong.fault_class.empty()) continue;
        Evidence evidence = wrong;
        evidence.tier = "registered memory";
        evidence.address = reinterpret_cast<uintptr_t>(memory.bytes) + wrong.offset;
        fail(fmt::format("destroy returned with work in flight: byte {:#x} of what was to be copied is wrong; {}",
                         wrong.offset, wrong.detail),
             std::move(evidence));
    }
    if (seen == 0) nothing_pending(context);
}

} // namespace hbf::conformance
