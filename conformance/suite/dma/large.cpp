// SPDX-License-Identifier: Apache-2.0
// Beyond 4 GiB: offsets and lengths that do not fit 32 bits. Regions are large and nearly nothing of them is touched; where
// a tier gives out touched memory only, this is done under the full profile.
#include <chrono>
#include <memory>

#include <sys/mman.h>

#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/pair.hpp"
#include "core/host/memory_room.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t four_gib = uint64_t{1} << 32, region_size = four_gib + (1 << 20);
constexpr uint64_t piece = 3000;
// Where pieces go: before, across, at and beyond 4 GiB, and where an offset cut to 32 bits would put them.
constexpr uint64_t beyond[] = {four_gib - 100, four_gib + 8192, region_size - piece};

std::vector<std::byte> bytes_of(uint64_t seed, uint32_t generation, uint64_t offset, uint64_t size) {
    std::vector<std::byte> out((size + 3) / 4 * 4);
    kernels::pattern_fill(out.data(), out.size(), {static_cast<uint32_t>(seed), generation}, offset / 4 * 4);
    out.resize(size);
    return out;
}

void must_hold(Context &context, ByteAccess &access, const hbf_region_info &region, uint64_t offset,
               const std::vector<std::byte> &expected, std::string_view fault_class, const std::string &what) {
    context.count_check();
    const auto actual = access.read(region, offset, expected.size());
    if (actual == expected) return;
    const std::string tier = region.tier == HBF_TIER_NONE ? "" : context.device().tier(region.tier).name;
    Evidence evidence = difference(fault_class, tier, region, offset, expected, actual);
    evidence.detail = fmt::format("{}: wrong from offset {:#x} on", what, evidence.offset);
    fail_with(std::move(evidence));
}

// Small copies and fills around 4 GiB of one region.
void across(Context &context, const hbf_region_info &region, const std::string &name) {
    Instance &device = context.device();
    ByteAccess access(device);
    Regions regions(device);
    const Queue queue(device);
    const hbf_region_info small = regions.make(device.cpu_tier(), 4 * piece);
    for (const uint64_t offset : beyond) {
        const uint64_t low = offset >= four_gib ? offset - four_gib : 0;
        const auto old = bytes_of(context.seed(), 1, low, piece), fresh = bytes_of(context.seed(), 2, offset, piece);
        access.write(region, low, old);
        access.write(small, 0, fresh);
        device.must_run(queue, {copy_command(region.region, offset, small.region, 0, piece)});
        must_hold(context, access, region, low, old, fault::misplaced,
                  fmt::format("a copy to {:#x} of {} changed what is 4 GiB below it", offset, name));
        device.must_run(queue, {copy_command(small.region, piece, region.region, offset, piece)});
        must_hold(context, access, small, piece, fresh, fault::misplaced,
                  fmt::format("a copy from {:#x} of {} brought other bytes than were copied to it", offset, name));
        device.must_run(queue, {fill_command(region.region, offset, piece, 0x5a, 1)});
        must_hold(context, access, region, low, old, fault::misplaced,
                  fmt::format("a fill at {:#x} of {} changed what is 4 GiB below it", offset, name));
        must_hold(context, access, region, offset, std::vector<std::byte>(piece, std::byte{0x5a}), fault::not_written,
                  fmt::format("a fill at {:#x} of {} did not fill it", offset, name));
    }
}

// One copy longer than 4 GiB.
void whole(Context &context, const hbf_region_info &from, const hbf_region_info &to, const std::string &name) {
    Instance &device = context.device();
    ByteAccess access(device);
    const Queue queue(device);
    const uint64_t places[] = {0, region_size - four_gib - piece / 2, four_gib - piece / 2, region_size - piece};
    for (const uint64_t place : places) access.write(from, place, bytes_of(context.seed(), 3, place, piece));
    const uint64_t value = device.must_submit(queue, {copy_command(to.region, 0, from.region, 0, region_size)});
    // The profile that runs this on slow tiers has the time.
    must(device.wait(queue, value, context.scaled(10, 300, 300) * 1'000'000'000), "the wait for a copy of {} bytes in {}",
         region_size, name);
    device.must_complete(queue, value);
    for (const uint64_t place : places)
        must_hold(context, access, to, place, bytes_of(context.seed(), 3, place, piece), fault::short_transfer,
                  fmt::format("a copy of {} bytes in {}", region_size, name));
}

// What such a copy would take, by one of a hundredth of it.
double expected_seconds(const Instance &device, const hbf_region_info &from, const hbf_region_info &to) {
    constexpr uint64_t part = region_size / 128 / 4096 * 4096;
    const Queue queue(device);
    const auto began = std::chrono::steady_clock::now();
    device.must_run(queue, {copy_command(to.region, 0, from.region, 0, part)});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return took.count() * static_cast<double>(region_size) / static_cast<double>(part);
}

bool in_tier(Context &context, uint32_t tier) {
    Instance &device = context.device();
    const hbf_tier_info info = device.describe(tier);
    const std::string name = info.name;
    // Two regions, half of what is there at most: others live here too.
    const bool room = info.available / 4 >= region_size, slow = device.cpu_access(tier);
    if (!room || (slow && context.profile() == Profile::quick)) {
        context.note(room ? fmt::format("{}: left to the full profile, since all its memory is touched when taken", name)
                          : fmt::format("{}: needs {} bytes available, has {}", name, 4 * region_size, info.available));
        return false;
    }
    Regions regions(device);
    const hbf_region_info from = regions.make(tier, region_size), to = regions.make(tier, region_size);
    across(context, from, name);
    const double seconds = expected_seconds(device, from, to);
    if (seconds > static_cast<double>(context.scaled(1, 120, 600))) {
        context.note(fmt::format("{}: no copy longer than 4 GiB, which would take {:.0f} s", name, seconds));
        return true;
    }
    whole(context, from, to, name);
    return true;
}

struct Unmap {
    void operator()(void *memory) const { ::munmap(memory, region_size); }
};

// Memory that nobody has touched is there by address only; a plugin that pins it makes it real.
bool in_registered_memory(Context &context) {
    Instance &device = context.device();
    std::vector<std::string> problems;
    host::Reader reader("/", problems);
    const host::MemoryRoom room = host::memory_room(reader);
    if (room.bytes / 3 < region_size) {
        context.note(fmt::format("registered memory: needs {} bytes free, {} leaves {}", 3 * region_size, room.limited_by,
                                 room.bytes));
        return false;
    }
    void *memory = ::mmap(nullptr, region_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        context.note(fmt::format("registered memory: this process cannot map {} bytes", region_size));
        return false;
    }
    const std::unique_ptr<void, Unmap> mapped(memory);
    hbf_region_info region{};
    must(device.register_host(memory, region_size, region), "register_host of {} bytes", region_size);
    region.address = memory;
    across(context, region, "registered memory");
    device.must_free(region.region);
    return true;
}

HBF_CASE("dma.copy.over_4gib", {.rules = {"HBF-DMA-2"},
                                .kills = {"m12_len_truncated_32bit", "offset_truncated_32bit", "offset_of_fill_truncated",
                                          "offset_of_source_truncated"},
                                .needs = need::cpu_tier,
                                .limit_s = 60}) {
    Instance &device = context.device();
    bool any = false;
    for (const uint32_t tier : device.dma_tiers()) any |= in_tier(context, tier);
    if (device.capabilities() & need::register_host) any |= in_registered_memory(context);
    if (!any)
        context.not_observable(fmt::format("needs a tier with {} bytes available, or so much memory free", 4 * region_size));
}

} // namespace
} // namespace hbf::conformance
