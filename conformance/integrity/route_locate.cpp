// SPDX-License-Identifier: Apache-2.0
// What is done about a wrong word: read it again, look at its source, find where its bytes come from, send it once more.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sched.h>

#include "conformance/integrity/route.hpp"

namespace hbf::integrity {
namespace {

using conformance::copy_command;

constexpr size_t most_repeats = 32; // in a run: each writes the place anew

} // namespace

uint64_t Route::load_word(const hbf_region_info &region, uint64_t offset) {
    uint64_t word = 0;
    if (region.address) {
        const auto *const at = static_cast<const std::byte *>(region.address) + offset;
        arena_->access().refresh(region, offset, word_size);
        evict(at, word_size);
        std::memcpy(&word, at, word_size);
        return word;
    }
    // Whole lines, as transfers move them, and a part of the window that the words still to be located do not lie in.
    const uint64_t line = offset / line_size * line_size, size = std::min<uint64_t>(line_size, region.size - line);
    auto bytes = arena_->access().read(region, line, size);
    std::memcpy(&word, bytes.data() + (offset - line), word_size);
    return word;
}

void Route::locate(const hbf_region_info &region, const Datum &due, const std::vector<WrongWord> &wrong, uint64_t shift,
                   const std::byte *bytes, uint64_t offset, uint64_t size) {
    const bool straight = region.region == to_->destination.region && shift == 0; // the source has the same place
    std::vector<ErrorRecord> found;
    for (const auto &word : wrong) {
        if (tally_->records.size() + found.size() >= Tally::most_records) break;
        ErrorRecord record;
        record.datum = due;
        record.from = pair_->from;
        record.to = pair_->to;
        record.agent = reader_ + (region.address ? fmt::format("cpu {}", sched_getcpu()) : "dma");
        record.region = region.region;
        record.offset = word.address - shift;
        if (region.address) record.cpu_address = reinterpret_cast<uintptr_t>(region.address) + record.offset;
        record.expected = word.expected;
        record.actual = word.actual;
        for (auto &again : record.again) again = load_word(region, record.offset);
        record.reread = judge_rereads(word.expected, word.actual, record.again);
        if (straight) record.source_right = load_word(from_->source, record.offset) == word.expected;

        const uint64_t next = record.offset - offset + word_size,
                       line_end = next + (line_size - next % line_size) % line_size;
        const std::span<const std::byte> following(bytes + std::min(next, size),
                                                   std::min(line_end, size) - std::min(next, size));
        record.origin = origin_of(
            {due, content_->now ? &*content_->now : nullptr, bytes_, content_->poison ? &*content_->poison : nullptr}, word,
            following);
        record.at_s = hooks_.now();
        record.temperature = hooks_.temperature();
        found.push_back(std::move(record));
    }
    // Once nothing more is to be read: this writes to the place.
    for (auto &record : found) {
        if (straight && repeats_ < most_repeats) {
            ++repeats_;
            const uint64_t line = record.offset / line_size * line_size;
            const uint64_t count = std::min<uint64_t>(line_size, bytes_ - line);
            arena_->device().must_run(arena_->queue(),
                                      {copy_command(region.region, line, from_->source.region, line, count)});
            record.repeat = load_word(region, record.offset) == record.expected;
        }
        tally_->add(record);
    }
}

} // namespace hbf::integrity
