// SPDX-License-Identifier: Apache-2.0
// What of heat a sequence knows alone: which blocks are a request's, which come next, and which of them are near to what is
// being asked.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/blocks/sequence_core.hpp"

namespace hbf::kv {

void SequenceCore::begin_request() {
    std::vector<std::vector<BlockId>> taken(lanes_.size());
    adopted_.clear();
    for (size_t i = 0; i < lanes_.size(); ++i) {
        for (const Entry &entry : lanes_[i].entries) taken[i].push_back(entry.block);
        if (!taken[i].empty()) adopted_.push_back(taken[i].back());
    }
    if (adopted_.size() != lanes_.size()) adopted_.clear();
    cache_->request_begins(taken);
}

// The last full block of each lane is where it can be taken up again.
void SequenceCore::end_request() {
    tails_.clear();
    for (const Lane &lane : lanes_) {
        for (auto entry = lane.entries.rbegin(); entry != lane.entries.rend(); ++entry) {
            const BlockRecord &record = cache_->record(entry->block);
            if (record.tokens.load(std::memory_order_relaxed) != record.capacity) continue;
            tails_.push_back(entry->block);
            break;
        }
    }
    if (tails_.size() == lanes_.size()) cache_->request_ends(adopted_, tails_);
}

// A token reads what the one before it read: some of them are enough to tell what is hot. What of the next lane lies below
// HBM is asked for while this one is attended.
void SequenceCore::lane_is_read(uint32_t number, bool next_too) {
    constexpr uint32_t counted = 16;
    Lane &lane = lanes_[number];
    if (lane.reads++ % counted == 0) cache_->used(lane.entries, number == 0);
    if (next_too && number + 1 < lanes_.size()) cache_->comes_next(lanes_[number + 1].entries);
}

Result<uint64_t> SequenceCore::pin(std::chrono::milliseconds time) {
    uint64_t pinned = 0;
    for (const Lane &lane : lanes_) {
        for (const Entry &entry : lane.entries) {
            auto done = cache_->pin(entry.block, time);
            if (!done && done.error().code == Code::invalid && time.count() <= 0)
                return tl::unexpected(std::move(done.error()));
            pinned += done ? 1 : 0;
        }
    }
    return pinned;
}

Result<> SequenceCore::set_query_vector(std::span<const float> query) {
    const Model &model = cache_->model();
    const size_t dim = model.head_dim;
    if (query.size() != model.query_heads * dim && query.size() != model.kv_heads * dim)
        return fail(Code::invalid,
                    fmt::format("a query vector of {} numbers; {} query heads of {} are {}, {} KV heads are {}",
                                query.size(), model.query_heads, dim, model.query_heads * dim, model.kv_heads,
                                model.kv_heads * dim));
    if (!std::all_of(query.begin(), query.end(), [](float value) { return std::isfinite(value); }))
        return fail(Code::invalid, "a query vector with a number that is none");
    query_given_ = true;
    if (cache_->query()) find_relevant(query);
    return {};
}

void SequenceCore::ask_relevance(uint32_t layer, std::span<const float> query) {
    if (query_given_ || layer != cache_->model().layers / 2) return;
    if (lanes_of(layer)[0].reads % 16 != 15) return; // as often as uses are counted: most tokens take no lock
    if (!cache_->query()) return;
    (void)guarded([&]() -> Result<> { return find_relevant(query), Result<>(); }); // without memory: the next time
}

// How near a block's mean key is to the query: the cosine over the heads of the lane, of every fourth token.
double SequenceCore::nearness(const std::byte *bytes, const kernels::device::kv_shape &shape, uint32_t tokens,
                              std::span<const float> query) const {
    double product = 0, keys = 0, queries = 0;
    const uint32_t share =
        static_cast<uint32_t>(query.size() / (size_t{shape.kv_heads} * shape.head_dim)); // heads a KV head
    for (uint32_t head = 0; head < shape.kv_heads; ++head) {
        for (uint32_t channel = 0; channel < shape.head_dim; ++channel) {
            double key = 0, asked = 0;
            for (uint32_t token = 0; token < tokens; token += 4)
                key += static_cast<double>(
                    kernels::device::hbf_load_element(reinterpret_cast<const uint8_t *>(bytes), shape.element,
                                                      kernels::device::kv_key_index(shape, head, token, channel)));
            for (uint32_t i = 0; i < share; ++i)
                asked += static_cast<double>(query[(size_t{head} * share + i) * shape.head_dim + channel]);
            product += key * asked;
            keys += key * key;
            queries += asked * asked;
        }
    }
    const double both = std::sqrt(keys * queries);
    return both > 0 && std::isfinite(both) ? product / both : 0;
}

// The first group of a middle layer says which positions are near; blocks of all lanes at those positions are relevant, in
// proportion to the nearest.
void SequenceCore::find_relevant(std::span<const float> query) {
    const Model &model = cache_->model();
    const Lane &lane = lanes_of(model.layers / 2)[0];
    query = query.first(query.size() / model.head_groups);
    struct Near {
        uint64_t first, end;
        double value;
    };
    std::vector<Near> near;
    double nearest = 0;
    const CacheCore::Lease worker(*cache_);
    for (size_t i = 0; i < lane.entries.size(); ++i) {
        const Piece piece = this->piece(lane, i);
        if (!cache_->in_place(piece.block)) continue;
        double value = 0;
        const auto shape = cache_->shape(cache_->record(piece.block).capacity);
        if (!cache_->with_bytes(*worker, piece.block,
                                [&](const std::byte *bytes) { value = nearness(bytes, shape, piece.tokens, query); }))
            continue;
        near.push_back({lane.entries[i].first, lane.entries[i].first + uint64_t{piece.tokens}, value});
        nearest = std::max(nearest, value);
    }
    constexpr double least = 0.7; // of the nearest
    std::vector<placement::Relevance> relevant;
    for (const Lane &other : lanes_) {
        size_t at = 0;
        for (const Entry &entry : other.entries) {
            while (at < near.size() && near[at].end <= entry.first) ++at;
            if (at == near.size()) break;
            if (near[at].first <= entry.first && nearest > 0 && near[at].value >= least * nearest)
                relevant.push_back({entry.block, near[at].value / nearest});
        }
    }
    cache_->set_relevance(relevant);
}

} // namespace hbf::kv
