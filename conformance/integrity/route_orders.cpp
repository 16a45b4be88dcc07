// SPDX-License-Identifier: Apache-2.0
// Orders of writing and reading that are more than a pass: March C-, modulo-20, block move.
#include <algorithm>
#include <numeric>

#include "conformance/integrity/route.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::integrity {
namespace {

using conformance::copy_command;

constexpr uint64_t move_size = 65536;

// An element of a march: in this direction, block by block, read what was there (-1: nothing), then write (-1: nothing).
struct Element {
    bool up;
    int read, write;
};
constexpr Element march_c_minus[] = {{true, -1, 0}, {true, 0, 1}, {true, 1, 0}, {false, 0, 1}, {false, 1, 0}, {true, 0, -1}};

} // namespace

bool Route::march(uint32_t seed, uint32_t generation) {
    const auto datum = [&](int value) {
        return Datum{Pattern::moving_inversions, static_cast<uint32_t>(value), seed, generation};
    };
    for (const auto &element : march_c_minus) {
        for (const auto &range : blocks(element.up)) {
            if (hooks_.stop()) return false;
            if (element.read >= 0) check(to_->destination, datum(element.read), range.offset, range.size, range.offset);
            if (element.write < 0) continue;
            fill(from_->source, datum(element.write), range);
            std::vector<uint32_t> crc;
            arena_->device().must_complete(arena_->queue(), submit_copy(range, crc));
            check_crc(datum(element.write), range, crc);
        }
        if (element.write >= 0)
            content_->now = datum(1 - element.write); // what the next element's reads would find if stale
    }
    pair_->reached = bytes_;
    content_->now = datum(0);
    return true;
}

// The lines that are judged are written first and never again; what lies between is written three times, in copies of its
// own: what toggles is not back where it was.
bool Route::every_twentieth(const Datum &datum) {
    // Storage reads and writes whole blocks around each line: a few of them, or it takes minutes.
    const bool memory = to_->destination.address && from_->source.address;
    const uint64_t bytes = std::min<uint64_t>(bytes_, memory ? 4u << 20 : 4u << 10);
    const uint32_t most = std::min<uint32_t>(arena_->device().queue_info().max_commands, 64);
    const auto all_lines = [&](bool twentieth) {
        std::vector<hbf_command> batch;
        const auto send = [&] {
            if (!batch.empty()) arena_->device().must_run(arena_->queue(), batch);
            batch.clear();
        };
        for (uint64_t at = 0; at < bytes;) {
            const bool one = judged(datum, at);
            uint64_t end = at + line_size; // of the run of lines of its kind
            while (end < bytes && judged(datum, end) == one) end += line_size;
            end = std::min(end, bytes);
            if (one == twentieth)
                batch.push_back(copy_command(to_->destination.region, at, from_->source.region, at, end - at));
            if (batch.size() >= most) send();
            at = end;
        }
        send();
    };
    fill(from_->source, datum, {0, bytes});
    all_lines(true);
    for (int times = 0; times < 3; ++times) {
        if (hooks_.stop()) return false;
        all_lines(false);
    }
    const uint64_t before = pair_->bytes;
    for (uint64_t at = 0; at < bytes; at += Arena::window_size)
        check(to_->destination, datum, at, std::min(Arena::window_size, bytes - at), at);
    // Only a twentieth was judged.
    const uint64_t counted = pair_->bytes - before;
    pair_->bytes = before + counted / modulo;
    tally_->add_bits(-8.0 * static_cast<double>(counted - counted / modulo));
    content_->now.reset();
    return true;
}

bool Route::block_move(uint32_t seed, uint32_t generation, unsigned moves) {
    const Datum datum{Pattern::block_move, 0, seed, generation};
    const uint64_t count = bytes_ / move_size;
    if (count == 0) return true;
    for (const auto &range : blocks()) fill(from_->source, datum, range);
    std::vector<uint64_t> holds(count); // place -> granule
    std::iota(holds.begin(), holds.end(), uint64_t{0});
    conformance::Random random(uint64_t{seed} << 32 | generation);
    const uint32_t most = std::min<uint32_t>(arena_->device().queue_info().max_commands, 64);
    hbf_region here = from_->source.region, there = to_->destination.region;
    for (unsigned move = 0; move < moves; ++move) {
        std::vector<uint64_t> place(count), next(count);
        std::iota(place.begin(), place.end(), uint64_t{0});
        for (uint64_t i = count; i > 1; --i) std::swap(place[i - 1], place[random.below(i)]);
        std::vector<hbf_command> batch;
        for (uint64_t i = 0; i < count; ++i) {
            next[place[i]] = holds[i];
            batch.push_back(copy_command(there, place[i] * move_size, here, i * move_size, move_size));
            if (batch.size() < most && i + 1 < count) continue;
            if (hooks_.stop()) return false;
            arena_->device().must_run(arena_->queue(), batch);
            batch.clear();
        }
        holds = std::move(next);
        std::swap(here, there);
    }
    const auto &last = here == to_->destination.region ? to_->destination : from_->source;
    content_->now.reset();
    for (uint64_t i = 0; i < count; ++i) {
        if (hooks_.stop()) return false;
        check(last, datum, i * move_size, move_size, holds[i] * move_size);
    }
    return true;
}

} // namespace hbf::integrity
