// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/attend_place.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/trace/trace.hpp"

namespace hbf::kv {
namespace {

constexpr const char *attend_in[] = {"attend in hbm", "attend in hbf", "attend from cold"};

} // namespace

kv_shape LanePlace::shape_of(const Entry &entry) const {
    kv_shape shape = shape_;
    shape.block_tokens = entry.capacity;
    return shape;
}

uint64_t LanePlace::within(const kv_block &block, const kv_shape &shape) const {
    const uint64_t head = (block.offset & 0xffffffff) / kernels::device::kv_block_size(shape_);
    return head * kernels::device::kv_block_size(shape);
}

Result<> LanePlace::begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    blocks_ = {};
    for (const kv_block &block : blocks)
        if (block.offset >> 32 >= entries_.size() || block.tokens > entry(block).capacity)
            return fail(Code::internal, fmt::format("a lane of {} blocks has none at {:#x} with {} tokens", entries_.size(),
                                                    block.offset, block.tokens));
    shape_ = shape, query_ = query, blocks_ = blocks;
    return guarded([&]() -> Result<> {
        run_.reserve(blocks.size());
        return {};
    });
}

// Neighbours of one size in memory that the CPU sees are one call of the kernel, which fetches into the cache across them.
Result<> LanePlace::next(uint32_t count, float *state, float *output) {
    if (count > blocks_.size()) return fail(Code::invalid, "more blocks were asked for than were named");
    const size_t states = size_t{shape_.query_heads} * 2, numbers = size_t{shape_.query_heads} * shape_.head_dim;
    while (count != 0) {
        const Entry &first = entry(blocks_.front());
        const kv_shape shape = shape_of(first);
        const uint64_t size = kernels::device::kv_block_size(shape);
        const std::byte *base = first.address;
        uint32_t run = 1;
        if (base == nullptr) {
            auto bytes = cache_.bytes_of(*worker_, first.block);
            if (!bytes) return tl::unexpected(std::move(bytes.error()));
            base = *bytes;
            ++fetched_;
        } else {
            for (; run < count; ++run) {
                const Entry &other = entry(blocks_[run]);
                if (other.address == nullptr || other.capacity != first.capacity || other.tier != first.tier) break;
                base = std::min(base, other.address);
            }
        }
        run_.clear();
        uint64_t end = 0;
        for (uint32_t i = 0; i < run; ++i) {
            const std::byte *const address = first.address ? entry(blocks_[i]).address : base;
            const uint64_t offset = static_cast<uint64_t>(address - base) + within(blocks_[i], shape);
            run_.push_back({offset, blocks_[i].tokens, 0});
            end = std::max(end, offset + size);
        }
        attended_[static_cast<size_t>(first.tier)] += run * size;
        const trace::Span span(attend_in[static_cast<size_t>(first.tier)], run * size);
        kernels::attention({reinterpret_cast<const uint8_t *>(base), run_.data(), query_, state, output},
                           {end, shape, run, 0});
        state += run * states, output += run * numbers, count -= run;
        blocks_ = blocks_.subspan(run);
    }
    return {};
}

} // namespace hbf::kv
