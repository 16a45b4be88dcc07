// SPDX-License-Identifier: Apache-2.0
// What no queue may take: commands, flags and widths nobody has defined, ranges that are empty or leave their region.
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 8192;

// HBF_UNSUPPORTED is a refusal too: what this queue does not know, another might.
void must_refuse(Context &context, hbf_queue *queue, const hbf_command &command, std::string_view what) {
    uint64_t value = 0;
    const Call call = context.device().submit(queue, {command}, value);
    check_in(context, call.status == HBF_INVALID || call.status == HBF_UNSUPPORTED,
             call.ok() ? fault::swallowed : fault::wrong_status, "", "{}: {} where HBF_INVALID or HBF_UNSUPPORTED is due",
             what, to_string(call));
    check_in(context, !call.message.empty(), fault::contract, "", "{}: {} without a message", what,
             status_name(call.status));
}

// Flush and invalidate mean something in a coherence domain only.
bool orders_caches(const Instance &device, uint32_t tier) {
    return device.domain_of(tier) != nullptr;
}
bool is_range(const hbf_command &command) {
    return command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE;
}

HBF_CASE("dma.command.unknown_refused",
         {.rules = {"HBF-DMA-5"},
          .kills = {"unknown_kind_skipped", "unknown_flag_ignored", "fill_width_approximated", "crc_place_not_looked_at",
                    "crc_not_offered_ignored", "refused_as_internal", "refused_without_message"}}) {
    Instance &device = context.device();
    const uint32_t tier = device.dma_tiers().empty() ? 0 : device.dma_tiers().front();
    Pair pair(context, {tier, tier, device.tier(tier).name, device.tier(tier).name}, region_size, region_size);
    const hbf_command copy = copy_command(pair.to.region, 0, pair.from.region, 0, 64);
    const hbf_command fill = fill_command(pair.to.region, 0, 64, 1, 4);

    for (const uint32_t kind : {0u, 7u, 8u, 255u, 256u + HBF_COMMAND_COPY, 0x80000000u + HBF_COMMAND_FILL, UINT32_MAX}) {
        hbf_command command = copy;
        command.kind = kind;
        must_refuse(context, pair.queue, command, fmt::format("a command of the unknown kind {:#x}", kind));
    }
    for (uint32_t bit = 1; bit < 32; ++bit) {
        hbf_command command = copy;
        command.flags = 1u << bit;
        must_refuse(context, pair.queue, command, fmt::format("a copy with the unknown flag {:#x}", command.flags));
    }
    for (const uint32_t flags : {1u, 2u, 0x80000000u}) {
        hbf_command command = fill;
        command.flags = flags;
        must_refuse(context, pair.queue, command, fmt::format("a fill with flags {:#x}", flags));
    }
    for (const uint32_t width : {0u, 3u, 5u, 6u, 7u, 9u, 16u, 256u, 256u + 4u, UINT32_MAX})
        must_refuse(context, pair.queue, fill_command(pair.to.region, 0, 64, 1, width),
                    fmt::format("a fill with patterns of {} bytes", width));

    hbf_command no_words = copy;
    no_words.flags = HBF_COPY_CRC32C;
    must_refuse(context, pair.queue, no_words, "a copy with HBF_COPY_CRC32C and no place for the CRC");
    uint32_t crc = 0x5ca1ab1e;
    if (!(device.queue_info().capabilities & HBF_QUEUE_CAP_CRC32C) && !(context.subject().options().mask & need::crc))
        must_refuse(context, pair.queue, copy_command(pair.to.region, 0, pair.from.region, 0, 64, &crc),
                    "a copy with HBF_COPY_CRC32C on a queue that does not offer it");
    pair.run(context, {}, "after refused commands");
}

HBF_CASE("dma.range.empty_refused", {.rules = {"HBF-DMA-3"}, .kills = {"zero_copy_ok", "zero_fill_ok", "zero_range_ok"}}) {
    Instance &device = context.device();
    for (const Route &route : routes_within(device)) {
        Pair pair(context, route, region_size, region_size);
        const hbf_region region = pair.to.region;
        for (const uint64_t offset : {uint64_t{0}, uint64_t{4096}, region_size}) {
            const std::pair<hbf_command, const char *> empty[] = {
                {copy_command(region, offset, pair.from.region, 0, 0), "copy"},
                {copy_command(region, 0, pair.from.region, offset, 0), "copy"},
                {fill_command(region, offset, 0, 1, 1), "fill"},
                {flush_command(region, offset, 0), "flush"},
                {invalidate_command(region, offset, 0), "invalidate"}};
            for (const auto &[command, what] : empty) {
                if (!orders_caches(device, route.to) && is_range(command)) continue;
                uint64_t value = 0;
                const Call call = device.submit(pair.queue, {command}, value);
                context.check_status(call, HBF_INVALID,
                                     fmt::format("a {} of 0 bytes at {} in {}", what, offset, route.to_name));
            }
        }
    }
}

// Sums that wrap are the ones that slip through a comparison of offset + size.
HBF_CASE("dma.range.outside_region_refused",
         {.rules = {"HBF-DMA-1", "HBF-DMA-2"},
          .kills = {"m12_len_truncated_32bit", "range_unchecked", "range_sum_wraps", "last_byte_refused"}}) {
    Instance &device = context.device();
    struct Range {
        uint64_t offset, size;
    };
    constexpr uint64_t all = region_size + 100; // no multiple of any granule: the region ends where it was asked to
    constexpr Range outside[] = {
        {0, all + 1},           {1, all},        {all - 1, 2},          {all, 1},
        {all + 1, 1},           {UINT64_MAX, 1}, {UINT64_MAX - 63, 64}, {UINT64_MAX - 63, 128},
        {64, UINT64_MAX - 63},  {1, UINT64_MAX}, {0, UINT64_MAX},       {0, (uint64_t{1} << 32) + 64},
        {uint64_t{1} << 32, 64}};
    for (const Route &route : routes_within(device)) {
        Pair pair(context, route, all, all);
        for (const Range &range : outside) {
            const hbf_region region = pair.to.region;
            const std::pair<hbf_command, const char *> commands[] = {
                {copy_command(region, range.offset, pair.from.region, 0, range.size), "copy to"},
                {copy_command(pair.from.region, 0, region, range.offset, range.size), "copy from"},
                {fill_command(region, range.offset, range.size, 1, 1), "fill of"},
                {flush_command(region, range.offset, range.size), "flush of"},
                {invalidate_command(region, range.offset, range.size), "invalidate of"}};
            for (const auto &[command, what] : commands) {
                if (!orders_caches(device, route.to) && is_range(command)) continue;
                uint64_t value = 0;
                const Call call = device.submit(pair.queue, {command}, value);
                context.check_status(call, HBF_INVALID,
                                     fmt::format("a {} {} bytes at {:#x} of a region of {} in {}", what, range.size,
                                                 range.offset, all, route.to_name));
            }
        }
        pair.run(context, {pair.destination.copy_from(all - 1, pair.source, all - 1, 1)},
                 "the last byte in " + route.to_name);
        pair.run(context, {pair.destination.copy_from(0, pair.source, 0, all)}, "the whole region in " + route.to_name);
    }
}

} // namespace
} // namespace hbf::conformance
