// SPDX-License-Identifier: Apache-2.0
// What a sequence holds, for those who read it: rows as they were put.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/blocks/sequence_core.hpp"

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
    if (auto right = verify_layer(layer); !right) return right;
    const CacheCore::Lease worker(*cache_);
    uint64_t offset = 0; // of the group in a row
    for (const Lane &lane : lanes_of(layer)) {
        lane_is_read(static_cast<uint32_t>(&lane - lanes_.data()), false);
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

} // namespace hbf::kv
