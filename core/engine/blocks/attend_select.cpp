// SPDX-License-Identifier: Apache-2.0
// Selective attention over a lane: its index of keys, which follows the lane's tokens, and the choice among its blocks.
#include <algorithm>

#include "core/common/guarded.hpp"
#include "core/engine/blocks/attend.hpp"
#include "core/engine/trace/trace.hpp"

namespace hbf::kv {

void Attending::forget(uint32_t number, size_t blocks, uint32_t last_tokens) {
    if (!follows(number)) return;
    KeyIndex &index = *indexes_[number];
    if (index.blocks() > blocks) index.truncate(static_cast<uint32_t>(blocks));
    if (blocks != 0 && index.blocks() == blocks && index.tokens(index.blocks() - 1) > last_tokens)
        index.truncate(index.blocks() - 1); // it goes on otherwise
}

// Inside an epoch. From the last block that the index knows on: that one may have grown.
Result<> Attending::follow(Worker &worker, uint32_t number, const Pieces &lane) {
    KeyIndex &index = *indexes_[number];
    const uint64_t before = index.bytes();
    const trace::Span span("index keys");
    Result<> outcome;
    for (size_t i = index.blocks() == 0 ? 0 : index.blocks() - 1; i < lane.size() && outcome; ++i) {
        const auto block = static_cast<uint32_t>(i);
        const uint32_t known = block < index.blocks() ? index.tokens(block) : 0, tokens = lane[i].tokens;
        if (known == tokens && block < index.blocks()) continue;
        auto bytes = cache_.bytes_of(worker, lane[i].block);
        if (!bytes) {
            outcome = tl::unexpected(std::move(bytes.error()));
            break;
        }
        const uint32_t capacity = cache_.table_[lane[i].block].capacity;
        outcome = index.add_tokens(block, *bytes, known, tokens - known, capacity);
        if (outcome && tokens == capacity && capacity == index.shape().kv.block_tokens)
            outcome = index.add_sketch(block, *bytes);
    }
    const uint64_t more = index.bytes() - before; // modulo 2^64: it may be less
    index_bytes_ += more;
    cache_.index_bytes_.fetch_add(more, std::memory_order_relaxed);
    return outcome;
}

Result<> Attending::selective(Worker &worker, uint32_t number, const Pieces &lane, const AttendOptions &options,
                              const float *query, float *output, AttendReport &report) {
    const Reading reading(worker.reader);
    if (auto ready = guarded([&]() -> Result<> {
            if (indexes_.size() <= number) indexes_.resize(number + size_t{1});
            if (indexes_[number]) return {};
            // Blocks of another size can be attended, and not passed over: that of most is the best.
            std::vector<uint32_t> sizes;
            for (const Piece &piece : lane) sizes.push_back(cache_.table_[piece.block].capacity);
            std::nth_element(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2), sizes.end());
            auto made = KeyIndex::make({cache_.shape(sizes[sizes.size() / 2]), sketch_bits, 0});
            if (!made) return tl::unexpected(std::move(made.error()));
            indexes_[number] = std::move(*made);
            return {};
        });
        !ready)
        return ready;
    if (auto followed = follow(worker, number, lane); !followed) return followed;
    const KeyIndex &index = *indexes_[number];
    auto done = choose(worker, options, index, lane, query, output);
    if (!done && found_.elsewhere) {
        distrust();
        ++report.retried;
        find(lane, 0, false, &index.shape().kv, found_);
        here_.use(worker, found_.entries);
        done = selective_.attend(options.selection, index, places(), found_.blocks, query, output);
    }
    const SelectiveReport &mine = selective_.report();
    report.blocks += mine.blocks, report.attended += mine.attended, report.looked_at += mine.looked_at;
    report.exact_heads += mine.exact_heads, report.rounds = std::max(report.rounds, mine.rounds);
    report.bytes_of_summaries += mine.bytes_of_summaries, report.bytes_of_sketches += mine.bytes_of_sketches;
    report.bytes_of_all_blocks += mine.bytes_of_all_blocks;
    report.missed = std::max(report.missed, mine.missed), report.error = std::max(report.error, mine.error);
    count(report, true);
    return done;
}

Result<> Attending::choose(Worker &worker, const AttendOptions &options, const KeyIndex &index, const Pieces &lane,
                           const float *query, float *output) {
    find(lane, UINT64_MAX, true, &index.shape().kv, found_);
    if (!planned_.empty()) { // nobody knows which blocks come
        planned_.clear();
        for (Elsewhere &other : elsewhere_)
            if (other.source) other.source->abandon();
    }
    here_.use(worker, found_.entries);
    return selective_.attend(options.selection, index, places(), found_.blocks, query, output);
}

} // namespace hbf::kv
