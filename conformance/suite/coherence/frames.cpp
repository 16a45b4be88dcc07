// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/frames.hpp"

#include <algorithm>
#include <thread>

#include "conformance/litmus/access.hpp"
#include "conformance/measure/placement.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance::coherence {

void Patience::wait() noexcept {
    litmus::relax();
    if (++spins_ % 2000 == 0) std::this_thread::yield();
}

uint32_t Leases::take() noexcept {
    for (;;) {
        const uint32_t frame = current_.load(std::memory_order_seq_cst);
        if (frame == none) return none;
        held_[frame].count.fetch_add(1, std::memory_order_seq_cst);
        if (current_.load(std::memory_order_seq_cst) == frame)
            return frame; // the mover sees this lease, or has not moved yet
        give(frame);
    }
}

void Leases::drain(uint32_t frame) const noexcept {
    for (Patience patience; held_[frame].count.load(std::memory_order_seq_cst) != 0;) patience.wait();
}

void Leases::let_use(uint64_t turns) const noexcept {
    const uint64_t enough = uses_.load(std::memory_order_relaxed) + turns;
    const auto begin = measure::Clock::now();
    Patience patience;
    while (uses_.load(std::memory_order_relaxed) < enough && elapsed(begin) < 0.05) // the user may be gone, or get no CPU
        patience.wait();
}

hbf_command flush_all(const hbf_region_info &region) {
    return flush_command(region.region, 0, region.size);
}
hbf_command invalidate_all(const hbf_region_info &region) {
    return invalidate_command(region.region, 0, region.size);
}

std::vector<hbf_command> move_commands(const Instance &device, const hbf_region_info &to, const hbf_region_info &from,
                                       uint64_t size) {
    std::vector<hbf_command> out;
    if (software(device, from.tier)) out = {flush_all(from), barrier_command()};
    out.push_back(copy_command(to.region, 0, from.region, 0, size));
    if (software(device, to.tier)) {
        out.push_back(barrier_command());
        out.push_back(invalidate_all(to));
    }
    return out;
}

Frames::Frames(const Instance &device, const std::vector<uint32_t> &tiers, uint32_t each, uint64_t size)
    : device_(&device), size_(size), regions_(device), queue_(device, 0, batch_room(device, 5)) {
    for (uint32_t round = 0; round < each; ++round)
        for (const uint32_t tier : tiers)
            if (infos_.size() < Leases::most_frames) infos_.push_back(regions_.make(tier, size, 64));
}

void Frames::move(uint32_t to, uint32_t from) const {
    device_->must_run(queue_, move_commands(*device_, infos_[to], infos_[from], size_));
}

void Frames::publish(uint32_t frame) const {
    if (software(*device_, infos_[frame].tier)) device_->must_run(queue_, {flush_all(infos_[frame])});
}

void run_beside(const std::function<void(Over &over)> &mover, const std::function<void(Over &over)> &user) {
    std::atomic<bool> over{false};
    const std::vector<int> cpus = measure::allowed_cpus();
    run_threads(2, [&](unsigned thread) {
        struct Ended { // also by an exception
            std::atomic<bool> &over;
            ~Ended() { over.store(true, std::memory_order_relaxed); }
        } const ended{over};
        // A CPU each, or the two might take turns on one and never meet.
        if (cpus.size() > 1) measure::bind_thread({cpus[thread % cpus.size()]});
        (thread == 0 ? mover : user)(over);
    });
}

uint64_t expect_whole(Context &context, const Place &place, const litmus::Reading &reading, uint64_t owner,
                      std::string_view what, std::optional<uint64_t> version) {
    context.count_check();
    const bool whole = reading.kind == litmus::Reading::whole;
    const bool owned = whole && reading.first.owner == owner; // only its version can be wrong
    if (owned && reading.first.version == version.value_or(reading.first.version)) return reading.first.version;
    Evidence evidence;
    evidence.fault_class = owned                                    ? fault::stale
                           : whole                                  ? fault::misplaced
                           : reading.kind == litmus::Reading::mixed ? fault::torn
                                                                    : fault::wrong_value;
    const uint64_t to_the_end = place.region->size - std::min(place.region->size, place.offset + reading.offset);
    if (reading.kind == litmus::Reading::damaged && reading.wrong_lines * litmus::stamp_size == to_the_end)
        evidence.fault_class = fault::short_transfer;
    if (reading.kind == litmus::Reading::damaged && reading.actual == poison && reading.offset == 0)
        evidence.fault_class = fault::stale; // the frame that the granule has left
    evidence.tier = place.device->tier(place.region->tier).name;
    evidence.region = place.region->region;
    evidence.offset = place.offset + reading.offset;
    if (place.region->address) evidence.address = reinterpret_cast<uintptr_t>(at(*place.region, evidence.offset));
    evidence.expected = owned                                    ? *version
                        : whole                                  ? owner
                        : reading.kind == litmus::Reading::mixed ? reading.first.version
                                                                 : reading.expected;
    evidence.actual = owned                                    ? reading.first.version
                      : whole                                  ? reading.first.owner
                      : reading.kind == litmus::Reading::mixed ? reading.other.version
                                                               : reading.actual;
    evidence.width = 8;
    evidence.wrong_bytes = whole ? litmus::granule_size : reading.wrong_lines * litmus::stamp_size;
    evidence.detail = fmt::format("{}: {}, where {} of {} is due", what, to_string(reading),
                                  version ? fmt::format("version {}", *version) : "one version", owner);
    std::string reason = evidence.detail;
    fail(std::move(reason), std::move(evidence));
}

} // namespace hbf::conformance::coherence
