// SPDX-License-Identifier: Apache-2.0
#include "memory/node_tier.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/host/memory_room.hpp"
#include "hbf/abi/plugin.h"
#include "hbf/sdk/failure.hpp"
#include "memory/address_range.hpp"
#include "memory/placement.hpp"
#include "memory/populate.hpp"
#include "text.hpp"

namespace hbf::host {
namespace {

#ifndef MADV_COLLAPSE // Linux 6.1
#define MADV_COLLAPSE 25
#endif

// What all tiers of this process are about to touch and MemAvailable does not show yet.
std::atomic<uint64_t> about_to_touch{0};

class Announced {
public:
    explicit Announced(uint64_t bytes) : bytes_(bytes), others(about_to_touch.fetch_add(bytes)) {}
    ~Announced() { about_to_touch.fetch_sub(bytes_); }
    Announced(const Announced &) = delete;
    Announced &operator=(const Announced &) = delete;

private:
    const uint64_t bytes_;

public:
    const uint64_t others;
};

MemoryRoom room_now(const NodeTierFacts &facts) {
    std::vector<std::string> problems; // said at discovery
    Reader reader(facts.root, problems);
    return memory_room(reader, facts.room_node);
}

} // namespace

void NodeTier::describe(hbf_tier_info &out) const {
    out.kind = facts_.kind;
    out.media = facts_.media;
    out.reality = HBF_REALITY_REAL;
    out.access = HBF_ACCESS_CPU | HBF_ACCESS_DMA;
    out.flags = (facts_.bind ? HBF_TIER_FLAG_NUMA_BOUND : 0) | (facts_.degraded ? HBF_TIER_FLAG_DEGRADED : 0);
    out.numa_node = facts_.node;
    out.line_size = facts_.line_size;
    out.capacity = budget_.capacity();
    const uint64_t room = room_now(facts_).bytes;
    out.available = facts_.unusable.empty() ? std::min(budget_.left(), room - std::min(room, facts_.reserve / 2)) : 0;
    out.granule = base_page_size();
    out.alignment = base_page_size();
    out.copy_alignment = facts_.line_size;
    out.nominal_bandwidth = facts_.bandwidth;
    out.nominal_latency_ns = facts_.latency_ns;
    put_text(out.name, facts_.name);
    put_text(out.detail, facts_.detail);
}

// Rounded up to whole pages. A default request is rounded to huge pages only where that costs little; else its end, or all
// of it, lies in small ones.
uint64_t NodeTier::body_size(uint64_t size, const PageKind &kind) const {
    const auto rounded = [size](uint64_t page) {
        return size > UINT64_MAX - page ? UINT64_MAX : (size + page - 1) / page * page;
    };
    uint64_t body = rounded(kind.page);
    if (!kind.exact() && (body - size > size / 8 || body > budget_.left())) body = rounded(base_page_size());
    if (body > budget_.left()) {
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes asked for, {} of {} left; free regions, or set option {} higher",
                                             facts_.name, size, budget_.left(), budget_.capacity(), facts_.option));
    }
    return body;
}

// The kernel promises memory that it has not, and kills when it is used: so we look first. A look costs more than a small
// region, so a good answer serves for a few of them.
void NodeTier::check_room(uint64_t body, uint64_t others) {
    const std::lock_guard lock(credit_mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (body <= credit_ && now < credit_ends_) {
        credit_ -= body;
        return;
    }
    credit_ = 0;
    const MemoryRoom room = room_now(facts_);
    const uint64_t taken = others + facts_.reserve / 2; // half, so that what was free at discovery can be had in full
    if (room.bytes >= taken && body <= room.bytes - taken) {
        credit_ = std::min((room.bytes - taken - body) / 16, uint64_t{64} << 20);
        credit_ends_ = now + std::chrono::milliseconds(100);
        return;
    }
    sdk::fail(
        HBF_EXHAUSTED,
        fmt::format(
            "{}: {} bytes would leave this machine too little: {} has {} bytes left, of which {} stay free{}; free memory "
            "or ask for less",
            facts_.name, body, room.limited_by, room.bytes, facts_.reserve / 2,
            others ? fmt::format(" and {} are promised to others", others) : ""));
}

void NodeTier::fill(std::byte *address, uint64_t size, const PageKind &kind) const {
    const int error = populate(address, size, kind, facts_.cpus);
    if (error == 0) return;
    if (kind.reserved_pool()) {
        sdk::fail(
            HBF_UNAVAILABLE,
            fmt::format("{}: not enough free {} pages{}: {}; set more aside in /sys/devices/system/node/node*/hugepages/"
                        "hugepages-{}kB/nr_hugepages",
                        facts_.name, name_of(kind.asked), facts_.bind ? fmt::format(" on node {}", facts_.node) : "",
                        std::strerror(error), kind.page >> 10));
    }
    if (error == EHWPOISON)
        sdk::fail(HBF_DATA_LOSS, fmt::format("{}: the kernel found broken memory in {} bytes", facts_.name, size));
    sdk::fail(HBF_EXHAUSTED,
              fmt::format("{}: memory ran out while {} bytes were touched: {}", facts_.name, size, std::strerror(error)));
}

uint64_t NodeTier::verified_page_size(std::byte *address, uint64_t size, const PageKind &kind) const {
    if (!kind.exact() && kind.page == base_page_size()) return kind.page; // there are no smaller ones
    auto facts = page_facts(address);
    if (!facts && !kind.exact()) return base_page_size(); // the smallest there can be
    if (!facts)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: /proc/self/smaps cannot be read, so pages cannot be verified", facts_.name));
    if (kind.reserved_pool()) {
        if (facts->kernel_page == kind.page) return kind.page;
    } else if (kind.asked == HBF_PAGES_4K) {
        if (facts->kernel_page == kind.page && facts->transparent == 0) return kind.page;
    } else {
        if (facts->transparent < size && kind.exact()) {
            madvise(address, size, MADV_COLLAPSE); // makes huge pages out of what first touch left small, or fails
            facts = page_facts(address);
        }
        if (facts && facts->transparent == size) return kind.page;
        if (!kind.exact()) return base_page_size();
    }
    sdk::fail(
        HBF_UNAVAILABLE,
        fmt::format(
            "{}: {} pages asked for; the kernel gave pages of {} bytes, {} of {} bytes in transparent huge pages: memory is "
            "fragmented; ask for the default, or set pages aside as 2M",
            facts_.name, name_of(kind.asked), facts ? facts->kernel_page : 0, facts ? facts->transparent : 0, size));
}

void NodeTier::check_place(std::byte *address, uint64_t size) const {
    const PagePlace place = check_node(address, size, facts_.node);
    if (place.known && place.all_there) return;
    sdk::fail(HBF_UNAVAILABLE, place.known
                                   ? fmt::format("{}: the page at offset {} is on node {}, not {}", facts_.name,
                                                 place.offset, place.found, facts_.node)
                                   : fmt::format("{}: where its pages are is not known: {}", facts_.name, place.why));
}

Mapping NodeTier::alloc(uint64_t size, uint64_t alignment, hbf_pages pages) {
    if (size == 0) sdk::fail(HBF_INVALID, "a region of zero bytes");
    if (alignment != 0 && !std::has_single_bit(alignment)) {
        sdk::fail(HBF_INVALID, fmt::format("alignment {} is not a power of two", alignment));
    }
    if (!facts_.unusable.empty()) sdk::fail(HBF_UNAVAILABLE, fmt::format("{}: {}", facts_.name, facts_.unusable));
    const PageKind kind = page_kind(pages, size);
    const uint64_t body = body_size(size, kind);
    Charge charge(budget_, body);
    if (!charge.taken()) {
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes asked for, {} left", facts_.name, size, budget_.left()));
    }
    const uint64_t fresh = kind.reserved_pool() ? 0 : body; // pool pages were set aside long ago
    const Announced announced(fresh);
    if (fresh) check_room(fresh, announced.others);

    AddressRange range(body, alignment, kind);
    if (facts_.bind) {
        if (const std::string why = bind_to_node(range.body(), body, facts_.node); !why.empty()) {
            sdk::fail(HBF_UNAVAILABLE, fmt::format("{}: {}", facts_.name, why));
        }
    }
    fill(range.body(), body, kind);
    const Mapping mapping{range.body(), range.mapped(), verified_page_size(range.body(), body, kind)};
    if (facts_.bind) check_place(range.body(), body);
    range.keep();
    charge.keep();
    return mapping;
}

void NodeTier::free(const Mapping &mapping) noexcept {
    if (!mapping.address || mapping.mapped <= base_page_size()) return;
    munmap(mapping.address, mapping.mapped);
    budget_.give(mapping.mapped - base_page_size());
}

} // namespace hbf::host
