// SPDX-License-Identifier: Apache-2.0
// What is read while work ahead of it, which lasts, still has to write it. A runtime that takes sources in the call of a
// copy, or memory that it was never given to pin, reads what was there before.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 4096, most_pieces = 16, whole = most_pieces * piece;
constexpr double held_s = 0.01;

// Memory of the case's own, as a region.
class Registered {
public:
    explicit Registered(const Instance &device)
        : device_(&device), memory_(std::aligned_alloc(alignment, alignment), &std::free) {
        if (!memory_) throw std::bad_alloc();
        std::fill_n(static_cast<char *>(memory_.get()), alignment, '\0');
        must(device.register_host(memory_.get(), whole, info_), "register_host of {} bytes", whole);
        info_.address = memory_.get(); // the caller's memory stays the caller's
    }
    ~Registered() {
        if (!device_->free(info_.region).ok()) (void)memory_.release(); // still in use
    }
    Registered(const Registered &) = delete;
    Registered &operator=(const Registered &) = delete;
    const hbf_region_info &info() const { return info_; }

private:
    static constexpr uint64_t alignment = 65536; // a page of any machine
    static_assert(whole <= alignment);
    const Instance *device_;
    std::unique_ptr<void, decltype(&std::free)> memory_;
    hbf_region_info info_{};
};

// Where the other end of a copy lies: a runtime may do copies between two places of the host in the call, which is no fault.
uint32_t across_from(const Instance &device, bool host) {
    for (const uint32_t tier : device.dma_tiers())
        if (host && !device.cpu_access(tier)) return tier;
    return device.cpu_tier();
}

// Old bytes in `middle`; behind the backlog src -> middle and then, as one batch, piece by piece middle -> dst.
class HeldBack {
public:
    HeldBack(Context &context, Instance &device, const hbf_region_info &middle)
        : context_(context), device_(device), middle_(middle), regions_(device),
          far_(across_from(device, middle.tier == HBF_TIER_NONE || device.cpu_access(middle.tier))),
          src_(regions_.make(far_, whole)), dst_(regions_.make(far_, whole)), access_(device), backlog_(device, held_s),
          second_(device, 0, batch_size()) {}

    void own_queue() {
        start();
        device_.must_submit(backlog_.queue(), {copy_command(middle_.region, 0, src_.region, 0, whole)});
        finish(backlog_.queue(), {}, "of one batch read what an earlier value of their queue had still to write");
    }
    void other_queue() {
        start();
        const uint64_t written =
            device_.must_submit(backlog_.queue(), {copy_command(middle_.region, 0, src_.region, 0, whole)});
        finish(second_, {wait_command(backlog_.queue(), written)},
               "of one batch read what the value that the batch waits for had still to write");
    }
    uint64_t held() const { return held_; }

private:
    uint32_t batch_size() const { return std::min<uint32_t>(device_.queue_info().max_commands, most_pieces + 1); }
    void start() {
        key_ = {static_cast<uint32_t>(context_.seed()), ++round_, false};
        write_pattern(access_, src_, 0, whole, key_, 0);
        write_pattern(access_, dst_, 0, whole, poison_of(key_), 0);
        write_pattern(access_, middle_, 0, whole, {key_.seed, round_ - 1, true}, 0);
        last_ = backlog_.add();
    }
    void finish(hbf_queue *queue, std::vector<hbf_command> batch, const char *what) {
        const uint64_t pieces = std::min<uint64_t>(most_pieces, batch_size() - batch.size());
        for (uint64_t i = pieces; i-- > 0;)
            batch.push_back(copy_command(dst_.region, i * piece, middle_.region, i * piece, piece));
        const uint64_t value = device_.must_submit(queue, batch);
        held_ += backlog_.pending(last_);
        device_.must_complete(queue, value);
        const std::vector<std::byte> bytes = access_.read(dst_, 0, pieces * piece);
        expect_pattern(context_, device_, dst_, 0, bytes.data(), bytes.size(), key_, 0, fault::order,
                       fmt::format("{} copies out of {} {}", pieces, name(), what));
    }
    std::string name() const {
        return middle_.tier == HBF_TIER_NONE ? "registered memory" : device_.tier(middle_.tier).name;
    }

    Context &context_;
    Instance &device_;
    const hbf_region_info middle_;
    Regions regions_;
    const uint32_t far_;
    const hbf_region_info src_, dst_;
    ByteAccess access_;
    Backlog backlog_;
    Queue second_;
    kernels::PatternKey key_{};
    uint32_t round_ = 1;
    uint64_t last_ = 0, held_ = 0;
};

void both_ways(Context &context, HeldBack &held, const std::string &where, uint64_t rounds) {
    for (uint64_t round = 0; round < rounds; ++round) held.own_queue(), held.other_queue();
    context.note(fmt::format("{}: {} of {} batches were submitted while the work ahead of them went on", where, held.held(),
                             2 * rounds));
}

} // namespace

HBF_CASE("async.order.batch_reads_what_is_held_back",
         {.rules = {"HBF-QUEUE-2"},
          .kills = {"wait_dropped", "cnrt_wait_of_idle_queue", "cuda_batch_any_order", "mi300x_wait_ignored",
                    "ze_barrier_passes"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    for (const uint32_t tier : device.dma_tiers()) {
        Regions regions(device);
        HeldBack held(context, device, regions.make(tier, whole));
        both_ways(context, held, device.tier(tier).name, context.scaled(3, 50, 1000));
    }
}

HBF_CASE("async.order.registered_memory_in_its_turn", {.rules = {"HBF-QUEUE-2", "HBF-QUEUE-12"},
                                                       .kills = {"registered_read_once"},
                                                       .needs = need::cpu_tier | need::register_host}) {
    Instance &device = context.device();
    const Registered memory(device);
    hbf_region_info middle = memory.info();
    middle.tier = HBF_TIER_NONE;
    HeldBack held(context, device, middle);
    both_ways(context, held, "registered memory", context.scaled(4, 50, 1000));
}

HBF_CASE("async.submit.registered_memory_holds_up_nobody", {.rules = {"HBF-QUEUE-12"},
                                                            .kills = {"cuda_pageable_late", "hip_pageable_late"},
                                                            .needs = need::cpu_tier | need::register_host}) {
    Instance &device = context.device();
    const Registered memory(device);
    Regions regions(device);
    const hbf_region_info other = regions.make(device.cpu_tier(), whole),
                          far = regions.make(across_from(device, true), whole);
    Backlog backlog(device, 4 * held_s); // longer than this thread is kept from a CPU, as a rule
    // Whether submit of a copy came back while the work ahead of it went on.
    const auto came_back = [&](const hbf_region_info &dst, const hbf_region_info &src) {
        const uint64_t ahead = backlog.add();
        const uint64_t value = device.must_submit(backlog.queue(), {copy_command(dst.region, 0, src.region, 0, whole)});
        const bool pending = backlog.pending(ahead);
        device.must_complete(backlog.queue(), value);
        return pending;
    };
    constexpr unsigned rounds = 12, enough = 6;
    for (const bool into : {false, true}) {
        unsigned others = 0, registered = 0;
        for (unsigned round = 0; round < rounds && registered == 0; ++round) {
            others += into ? came_back(other, far) : came_back(far, other);
            registered += into ? came_back(memory.info(), far) : came_back(far, memory.info());
        }
        if (others < enough && registered == 0) nothing_pending(context);
        expect(context, registered != 0, fault::contract,
               "submit of a copy {} registered memory came back only when the work ahead of it was over, {} times of {}; "
               "that of one {} {} came back before, {} times",
               into ? "into" : "from", rounds, rounds, into ? "into" : "from", device.tier(other.tier).name, others);
    }
}

} // namespace hbf::conformance
