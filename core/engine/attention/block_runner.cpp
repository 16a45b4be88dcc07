// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/block_runner.hpp"

#include <fmt/format.h>

#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

Result<uint64_t> count_tokens(std::span<AttendPlace *const> places, const kv_shape &shape, std::span<const Block> blocks) {
    if (const char *reason = kernels::attention_refused(shape)) return fail(Code::invalid, reason);
    uint64_t tokens = 0;
    for (const Block &block : blocks) {
        if (block.place >= places.size() || places[block.place] == nullptr)
            return fail(Code::invalid,
                        fmt::format("block at {:#x} lies in place {}, and there is none", block.at.offset, block.place),
                        block.at.offset);
        tokens += block.at.tokens;
    }
    return tokens;
}

void BlockRunner::sort(std::span<AttendPlace *const> places, std::span<const Block> blocks) {
    if (lists_.size() < places.size()) lists_.resize(places.size());
    for (auto &list : lists_) list.clear();
    for (const Block &block : blocks) lists_[block.place].push_back(block.at);
}

void BlockRunner::abandon(std::span<AttendPlace *const> places, size_t count) noexcept {
    for (size_t i = 0; i < count; ++i)
        if (!lists_[i].empty()) places[i]->abandon();
}

void BlockRunner::prefetch(std::span<AttendPlace *const> places, const kv_shape &shape, std::span<const Block> blocks) {
    sort(places, blocks);
    for (size_t i = 0; i < places.size(); ++i)
        if (!lists_[i].empty()) places[i]->prefetch(shape, lists_[i]);
}

Result<> BlockRunner::run(std::span<AttendPlace *const> places, const kv_shape &shape, const float *query,
                          std::span<const Block> blocks, Fold &fold) {
    sort(places, blocks);
    for (size_t i = 0; i < places.size(); ++i)
        if (!lists_[i].empty())
            if (auto begun = places[i]->begin(shape, query, lists_[i]); !begun) {
                abandon(places, i);
                return begun;
            }
    for (size_t i = 0; i < blocks.size();) { // neighbours in one place are one call, up to the next merge
        const uint32_t place = blocks[i].place, room = fold.room();
        uint32_t count = 1;
        while (count < room && i + count < blocks.size() && blocks[i + count].place == place) ++count;
        if (auto done = places[place]->next(count, fold.state(), fold.output()); !done) {
            abandon(places, places.size());
            return done;
        }
        fold.add(count);
        i += count;
    }
    return {};
}

} // namespace hbf::kv
