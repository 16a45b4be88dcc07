// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/arena.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/suite/context.hpp"

namespace hbf::integrity {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t least = 64u << 10; // bytes of a region worth testing

uint64_t room_in(const hbf_tier_info &tier, uint64_t wanted, uint64_t share) {
    const uint64_t room = tier.available / share / page * page;
    return std::min(wanted, std::max(room, least));
}

} // namespace

Arena::Arena(const conformance::Instance &device, const std::vector<uint32_t> &tiers, uint64_t bytes, uint64_t share)
    : device_(&device), regions_(device), access_(device),
      queue_(std::make_unique<conformance::Queue>(device, std::min(depth, device.queue_info().max_depth))) {
    for (const uint32_t tier : tiers) {
        const auto info = device.describe(tier);
        Place place;
        place.tier = tier;
        place.bytes = room_in(info, bytes, share);
        if (place.bytes < std::min(bytes, least) || info.available < 2 * place.bytes) {
            skipped_.push_back(fmt::format("{}: {} bytes free, too little to test", info.name, info.available));
            continue;
        }
        place.source = regions_.make(tier, place.bytes);
        place.destination = regions_.make(tier, place.bytes);
        places_.push_back(place);
    }
}

void Arena::verify_by(VerifyBy by, bool fill, uint32_t seed) {
    if (by == VerifyBy::host) return;
    const auto wanted = [&](uint32_t tier) { return by == VerifyBy::kernel || !device_->cpu_access(tier); };
    if (std::none_of(places_.begin(), places_.end(), [&](const auto &place) { return wanted(place.tier); })) return;
    pattern_ = std::make_unique<DevicePattern>(*device_, access_, *queue_);
    if (!pattern_->why_not().empty()) {
        if (device_->capabilities() & conformance::need::launch || by == VerifyBy::kernel)
            notes_.push_back("verified by host: " + pattern_->why_not());
        return;
    }
    for (const auto &place : places_) {
        if (!wanted(place.tier)) continue;
        const char *const name = device_->tier(place.tier).name;
        if (!pattern_->reaches(place.tier)) { // storage, of which nobody expects it unless it was asked for
            if (by == VerifyBy::kernel) notes_.push_back(fmt::format("{}: verified by host: kernels do not reach it", name));
        } else if (const auto wrong = pattern_->prove(place.destination, seed); !wrong.empty()) {
            notes_.push_back(fmt::format("{}: verified by host: {}", name, wrong));
        } else {
            verified_.insert(place.tier);
            if (!fill || device_->cpu_access(place.tier)) continue;
            if (pattern_->can_fill())
                filled_.insert(place.tier);
            else
                notes_.push_back(fmt::format("{}: written by copies: there is no kernel pattern_fill/1 that writes what it "
                                             "must",
                                             name));
        }
    }
}

DevicePattern *Arena::verifier(uint32_t tier) const {
    return verified_.count(tier) ? pattern_.get() : nullptr;
}

DevicePattern *Arena::filler(uint32_t tier) const {
    return filled_.count(tier) ? pattern_.get() : nullptr;
}

const hbf_region_info &Arena::window() {
    if (!window_.region) window_ = regions_.make(device_->cpu_tier(), window_size);
    return window_;
}

void evict(const void *address, uint64_t size) {
#if defined(__x86_64__)
    const auto *const first = static_cast<const char *>(address);
    for (uint64_t at = 0; at < size; at += 64) __builtin_ia32_clflush(first + at);
    if (size != 0) __builtin_ia32_clflush(first + size - 1);
    __builtin_ia32_mfence();
#elif defined(__aarch64__)
    const auto first = reinterpret_cast<uintptr_t>(address) / 64 * 64, end = reinterpret_cast<uintptr_t>(address) + size;
    for (uintptr_t at = first; at < end; at += 64) asm volatile("dc civac, %0" : : "r"(at) : "memory");
    asm volatile("dsb ish" ::: "memory");
#else
    static_cast<void>(address), static_cast<void>(size);
#endif
}

} // namespace hbf::integrity
