// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/route.hpp"

#include <algorithm>

#include "conformance/suite/context.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::integrity {
namespace {

using conformance::copy_command;

constexpr uint64_t block_size = Arena::window_size;
constexpr uint64_t kernel_block = uint64_t{64} << 20;  // bytes: a launch takes microseconds whatever it does
constexpr uint64_t cached_below = uint64_t{256} << 20; // bytes: what caches could still hold is evicted before it is read

std::byte *mapped(const hbf_region_info &region, uint64_t offset) {
    return region.address ? static_cast<std::byte *>(region.address) + offset : nullptr;
}

} // namespace

Route::Route(Arena &arena, const Arena::Place &from, const Arena::Place &to, Tally &tally, Hooks hooks)
    : arena_(&arena), from_(&from), to_(&to), tally_(&tally), hooks_(std::move(hooks)),
      bytes_(std::min(from.bytes, to.bytes)), content_(&arena.content(to.destination.region)) {
    const auto &source = arena.device().tier(from.tier), &destination = arena.device().tier(to.tier);
    PairTally pair;
    pair.from = source.name;
    pair.to = destination.name;
    pair.region_bytes = bytes_;
    pair.capacity = destination.capacity;
    if (arena.verifier(to.tier)) pair.verified_by = "kernel";
    pair.emulated = source.reality != HBF_REALITY_REAL || destination.reality != HBF_REALITY_REAL;
    const auto found = std::find_if(tally.pairs.begin(), tally.pairs.end(),
                                    [&](const auto &p) { return p.from == pair.from && p.to == pair.to; });
    pair_ = found != tally.pairs.end() ? &*found : &tally.pairs.emplace_back(std::move(pair));
}

std::vector<Route::Range> Route::ranges(uint64_t each) const {
    std::vector<Range> out;
    for (uint64_t at = 0; at < bytes_; at += each) out.push_back({at, std::min(each, bytes_ - at)});
    return out;
}

std::vector<Route::Range> Route::blocks(bool up) const {
    auto out = ranges(block_size);
    if (!up) std::reverse(out.begin(), out.end());
    return out;
}

void Route::fill(const hbf_region_info &region, const Datum &datum, uint64_t offset, uint64_t size, uint64_t content) {
    if (auto *const at = mapped(region, offset)) {
        generate(datum, at, size, content);
        arena_->access().publish(region, offset, size);
        return;
    }
    if (auto *const kernel = arena_->filler(region.tier)) return kernel->fill(region, datum, offset, size, content);
    const auto &window = arena_->window();
    for (uint64_t done = 0; done < size; done += block_size) {
        const uint64_t piece = std::min(block_size, size - done);
        generate(datum, window.address, piece, content + done);
        arena_->access().publish(window, 0, piece);
        arena_->device().must_run(arena_->queue(), {copy_command(region.region, offset + done, window.region, 0, piece)});
    }
}

bool Route::poison(uint32_t seed) {
    const Datum datum{Pattern::address_hash, 1, seed, 0};
    for (const auto &range : blocks()) {
        if (hooks_.stop()) return false;
        fill(to_->destination, datum, range);
    }
    content_->now = content_->poison = datum;
    return true;
}

uint64_t Route::submit_copy(const Range &range, std::vector<uint32_t> &crc) {
    crc.assign(arena_->crc() ? (range.size + HBF_CRC_PIECE - 1) / HBF_CRC_PIECE : 0, 0);
    return arena_->device().must_submit(arena_->queue(),
                                        {copy_command(to_->destination.region, range.offset, from_->source.region,
                                                      range.offset, range.size, crc.empty() ? nullptr : crc.data())});
}

void Route::check_crc(const Datum &datum, const Range &range, const std::vector<uint32_t> &crc) {
    std::vector<std::byte> due;
    for (size_t i = 0; i < crc.size(); ++i) {
        const uint64_t at = range.offset + i * HBF_CRC_PIECE;
        const uint64_t size = std::min<uint64_t>(HBF_CRC_PIECE, range.offset + range.size - at);
        due.resize(size);
        generate(datum, due.data(), size, at);
        ++tally_->crc_checked;
        if (kernels::crc32c(due.data(), size) != crc[i]) ++tally_->crc_wrong;
    }
}

bool Route::copy_all(const Datum &datum) {
    const auto all = blocks();
    const size_t depth = std::min(Arena::depth, arena_->device().queue_info().max_depth);
    std::vector<uint64_t> values(all.size());
    std::vector<std::vector<uint32_t>> crc(all.size());
    const auto finish = [&](size_t i) {
        arena_->device().must_complete(arena_->queue(), values[i]);
        check_crc(datum, all[i], crc[i]);
    };
    size_t begun = 0, done = 0;
    for (; begun < all.size() && !hooks_.stop(); ++begun) {
        // A source without CPU address is filled through the window and the same queue, in order.
        fill(from_->source, datum, all[begun]);
        values[begun] = submit_copy(all[begun], crc[begun]);
        if (begun + 1 >= depth + done) finish(done++);
    }
    while (done < begun) finish(done++);
    return begun == all.size();
}

bool Route::put(const Datum &datum) {
    return copy_all(datum);
}

bool Route::look(const Datum &datum) {
    for (const auto &range : ranges(arena_->verifier(to_->tier) ? kernel_block : block_size)) {
        if (hooks_.stop()) return false;
        check(to_->destination, datum, range.offset, range.size, range.offset);
        pair_->reached = std::max(pair_->reached, range.offset + range.size);
    }
    content_->now = datum;
    return true;
}

bool Route::pass(const Datum &datum) {
    return put(datum) && look(datum);
}

void Route::compared(uint64_t size) {
    pair_->bytes += size;
    tally_->add_bits(8.0 * static_cast<double>(size));
    hooks_.compared(size);
}

void Route::check(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size, uint64_t content) {
    auto *const kernel = arena_->verifier(region.tier);
    if (!kernel) {
        check_here(region, due, offset, size, content);
        return compared(size);
    }
    const auto found = kernel->verify(region, due, offset, size, content);
    if (!found.doubt.empty()) conformance::fail(found.doubt + ": that proves nothing");
    if (found.wrong_words != 0) {
        tally_->kernel_wrong_words += found.wrong_words;
        for (size_t bit = 0; bit < found.up.size(); ++bit) {
            tally_->kernel_up[bit] += found.up[bit];
            tally_->kernel_down[bit] += found.down[bit];
        }
        reader_ = "kernel, then ";
        uint64_t seen = 0;
        for (uint64_t done = 0; done < size; done += block_size)
            seen += check_here(region, due, offset + done, std::min(block_size, size - done), content + done);
        if (seen == 0) kernel_alone(region, due, found, content - offset);
        reader_.clear();
    }
    compared(size);
}

// The kernel read what is not there when the host looks: a read that went wrong, and no less an error for it.
void Route::kernel_alone(const hbf_region_info &region, const Datum &due, const DeviceFindings &found, uint64_t shift) {
    const WrongWord word{found.first_offset + shift, found.expected, found.actual};
    tally_->lanes.add(found.first_offset, word.expected, word.actual);
    tally_->wrong_bytes += wrong_bytes_in(word.expected, word.actual);
    ++tally_->incidents;
    ++pair_->wrong_words;
    locate(region, due, {word}, shift, reinterpret_cast<const std::byte *>(&word.actual), found.first_offset, word_size);
}

uint64_t Route::check_here(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size,
                           uint64_t content) {
    const std::byte *bytes = mapped(region, offset);
    if (bytes) {
        arena_->access().refresh(region, offset, size);
        if (region.size < cached_below) evict(bytes, size);
    } else {
        const auto &window = arena_->window();
        if (size > window.size) conformance::fail("a check larger than its window");
        arena_->device().must_run(arena_->queue(), {copy_command(window.region, 0, region.region, offset, size)});
        arena_->access().refresh(window, 0, size);
        bytes = static_cast<const std::byte *>(window.address);
    }
    std::vector<WrongWord> wrong; // the first ones in full, all in the lanes
    const uint64_t segment = std::max(size / (most_located - most_located / 4), line_size);
    uint64_t last = 0, last_part = UINT64_MAX;
    const uint64_t shift = content - offset;
    const uint64_t count = compare(due, bytes, size, content, [&](const WrongWord &word) {
        const uint64_t at = word.address - shift;
        tally_->lanes.add(at, word.expected, word.actual);
        tally_->wrong_bytes += wrong_bytes_in(word.expected, word.actual);
        const bool neighbour = at == last + word_size && last != 0;
        if (!neighbour) ++tally_->incidents;
        // The first ones, the beginning of each run, and some all along it: a long one may have more than one cause.
        const uint64_t part = (at - offset) / segment;
        const bool told = neighbour && wrong.size() >= most_located / 4 && part == last_part;
        if (wrong.size() < most_located && !told) {
            wrong.push_back(word);
            last_part = part;
        }
        last = at;
    });
    if (count != 0) {
        pair_->wrong_words += count;
        locate(region, due, wrong, shift, bytes, offset, size);
    }
    return count;
}

} // namespace hbf::integrity
