// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/prefetcher.hpp"

#include <algorithm>

namespace hbf::kv::prefetch {

size_t Prefetcher::read(Reader &reader, BlockId block, std::span<const BlockId> known, double memory_used,
                        std::span<BlockId> out) {
    const auto judge = [&](BlockId thought) { return thought == no_block ? 0 : thought == block ? 1 : -1; };
    const int model = judge(reader.model_thought), last = judge(reader.last_thought);
    if (model != 0 || last != 0) contest_.count(model > 0, model < 0, last > 0, last < 0);

    smart_.access(reader.smart, block);
    std::array<Guess, horizon> guesses;
    const size_t count = smart_.next(reader.smart, guesses);
    reader.model_thought = count > 0 && guesses[0].probability > gate_.sure ? guesses[0].block : no_block;
    reader.last_thought = smart_.successors().last(block);

    const size_t most = std::min<size_t>(out.size(), gate_.depth);
    if (memory_used >= gate_.memory_below) return 0;
    if (!known.empty()) {
        const size_t taken = std::min(most, known.size());
        std::copy_n(known.begin(), taken, out.begin());
        return taken;
    }
    size_t taken = 0;
    if (contest_.model_on()) {
        const size_t sure = std::min(most, allowed(gate_, std::span(guesses).first(count), memory_used));
        for (; taken < sure; ++taken) out[taken] = guesses[taken].block;
        return taken;
    }
    for (BlockId at = block; taken < most; ++taken) {
        at = smart_.successors().last(at);
        if (at == no_block) break;
        out[taken] = at;
    }
    return taken;
}

void Prefetcher::end(Reader &reader) {
    const auto missed = [](BlockId thought) { return thought != no_block ? 1 : 0; };
    if (reader.model_thought != no_block || reader.last_thought != no_block)
        contest_.count(0, missed(reader.model_thought), 0, missed(reader.last_thought));
    reader.model_thought = reader.last_thought = no_block;
    smart_.end(reader.smart);
}

} // namespace hbf::kv::prefetch
