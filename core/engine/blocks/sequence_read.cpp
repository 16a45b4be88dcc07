// SPDX-License-Identifier: Apache-2.0
// What a sequence holds, for those who read it: rows as they were put, and attention over all of them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/blocks/sequence_core.hpp"
#include "core/engine/trace/trace.hpp"

namespace hbf::kv {
namespace {

// Rows `first` to `first + count` of a block, to rows of `stride` bytes.
template <class Word>
void unpack(const kernels::device::kv_shape &shape, const std::byte *block, uint32_t first, uint32_t count, std::byte *keys,
            std::byte *values, uint64_t stride) {
    for (uint32_t token = 0; token < count; ++token) {
        std::byte *k = keys + token * stride, *v = values + token * stride;
        for (uint32_t head = 0; head < shape.kv_heads; ++head)
            for (uint32_t channel = 0; channel < shape.head_dim; ++channel, k += sizeof(Word), v += sizeof(Word)) {
                using namespace kernels::device;
                std::memcpy(k, block + sizeof(Word) * kv_key_index(shape, head, first + token, channel), sizeof(Word));
                std::memcpy(v, block + sizeof(Word) * kv_value_index(shape, head, first + token, channel), sizeof(Word));
            }
    }
}

constexpr const char *attend_in[] = {"attend in hbm", "attend in hbf", "attend from cold"};

} // namespace

Result<> SequenceCore::read(uint32_t layer, uint64_t first, uint64_t count, std::span<std::byte> keys,
                            std::span<std::byte> values) {
    if (auto fine = check_layer(layer); !fine) return fine;
    const uint64_t row = cache_->row_bytes(), part = row / cache_->model().head_groups, has = lanes_of(layer)[0].tokens;
    if (first > has || count > has - first)
        return fail(Code::invalid, fmt::format("tokens {} to {}: layer {} has {}", first, first + count, layer, has));
    if (keys.size() != count * row || values.size() != count * row)
        return fail(Code::invalid, fmt::format("{} and {} bytes for keys and values; {} rows of {} are {}", keys.size(),
                                               values.size(), count, row, count * row));
    const CacheCore::Lease worker(*cache_);
    uint64_t offset = 0; // of the group in a row
    for (const Lane &lane : lanes_of(layer)) {
        for (size_t i = 0; i < lane.entries.size(); ++i) {
            const Piece piece = this->piece(lane, i);
            const uint64_t begin = std::max<uint64_t>(first, lane.entries[i].first),
                           end = std::min<uint64_t>(first + count, lane.entries[i].first + piece.tokens);
            if (begin >= end) continue;
            const auto shape = cache_->shape(cache_->record(piece.block).capacity);
            std::byte *const k = keys.data() + (begin - first) * row + offset, *const v = values.data() +
                                                                                          (begin - first) * row + offset;
            cache_->touch(piece.block);
            auto done = cache_->with_bytes(*worker, piece.block, [&](const std::byte *bytes) {
                (size_of(cache_->model().element) == 4
                     ? unpack<uint32_t>
                     : unpack<uint16_t>)(shape, bytes, static_cast<uint32_t>(begin - lane.entries[i].first),
                                         static_cast<uint32_t>(end - begin), k, v, row);
            });
            if (!done) return done;
        }
        offset += part;
    }
    return {};
}

Result<> SequenceCore::attend(uint32_t layer, std::span<const float> query, std::span<float> output) {
    if (auto fine = check_layer(layer); !fine) return fine;
    const Model &model = cache_->model();
    const uint64_t numbers = uint64_t{model.query_heads} * model.head_dim;
    if (query.size() != numbers || output.size() != numbers)
        return fail(Code::invalid, fmt::format("{} and {} numbers for query and output; {} heads of {} are {}", query.size(),
                                               output.size(), model.query_heads, model.head_dim, numbers));
    const uint32_t heads = model.query_heads / model.head_groups;
    const CacheCore::Lease worker(*cache_);
    const trace::Span all("attend");
    uint64_t attended[tier_count] = {}; // bytes
    uint64_t head = 0;                  // the group's first
    for (const Lane &lane : lanes_of(layer)) {
        const auto blocks = static_cast<uint32_t>(lane.entries.size());
        if (blocks == 0) return fail(Code::invalid, fmt::format("layer {} has no token yet", layer));
        attending_.states.resize((size_t{blocks} + 1) * 2 * heads);
        attending_.outputs.resize(size_t{blocks} * heads * model.head_dim);
        for (uint32_t i = 0; i < blocks; ++i) {
            const Piece piece = this->piece(lane, i);
            kernels::device::attention_arguments arguments{};
            arguments.shape = cache_->shape(cache_->record(piece.block).capacity);
            arguments.kv_size = kernels::device::kv_block_size(arguments.shape);
            arguments.block_count = 1;
            const kernels::device::kv_block where{0, piece.tokens, 0};
            cache_->touch(piece.block);
            const auto tier = static_cast<size_t>(cache_->tier_of(piece.block));
            attended[tier] += arguments.kv_size;
            const trace::Span span(attend_in[tier], arguments.kv_size);
            auto done = cache_->with_bytes(*worker, piece.block, [&](const std::byte *bytes) {
                kernels::attention({reinterpret_cast<const uint8_t *>(bytes), &where, query.data() + head * model.head_dim,
                                    attending_.states.data() + size_t{i} * 2 * heads,
                                    attending_.outputs.data() + size_t{i} * heads * model.head_dim},
                                   arguments);
            });
            if (!done) return done;
        }
        const trace::Span merge("merge");
        float *const state = attending_.states.data() + size_t{blocks} * 2 * heads;
        float *const out = output.data() + head * model.head_dim;
        kernels::attention_merge(attending_.states.data(), attending_.outputs.data(), state, out,
                                 {blocks, heads, model.head_dim, 0});
        kernels::attention_finish(state, out, heads, model.head_dim);
        head += heads;
    }
    cache_->count_attended(attended);
    return {};
}

} // namespace hbf::kv
