// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/simulate.hpp"

namespace hbf::replay {
namespace {

using kv::placement::Policy;

void count_request(Path path, Tally &tally) {
    for (const auto &block : path) tally.tokens += block.tokens;
    tally.accesses += path.size();
}

} // namespace

Tally replay(const Trace &trace, Policy &policy) {
    Tally tally;
    for (size_t request = 0; request < trace.requests(); ++request) {
        const Path path = trace.path(request);
        count_request(path, tally);
        bool run = true;
        for (const auto &[id, tokens] : path) {
            const bool here = policy.holds(id);
            tally.hits += here;
            run = run && here;
            if (run) tally.usable += tokens;
        }
        policy.begin(path);
        BlockId parent = no_block;
        for (const auto &[id, tokens] : path) {
            if (!policy.holds(id)) {
                if (policy.size() >= policy.capacity() && policy.victim(id) == no_block) break; // the path fills it
                policy.admit(id, parent);
                tally.admitted_tokens += tokens;
            }
            parent = id;
        }
        policy.end(path);
    }
    tally.fast = tally.usable;
    return tally;
}

Tally replay(const Trace &trace, Policy &upper, Policy &lower) {
    Tally tally;
    std::vector<uint32_t> tokens_of(trace.blocks);
    std::vector<BlockId> parent_of(trace.blocks, no_block);
    for (size_t request = 0; request < trace.requests(); ++request) {
        const Path path = trace.path(request);
        count_request(path, tally);
        bool run = true;
        size_t usable = 0;
        BlockId before = no_block;
        for (const auto &[id, tokens] : path) {
            const bool above = upper.holds(id), here = above || lower.holds(id);
            tokens_of[id] = tokens;
            parent_of[id] = before;
            before = id;
            tally.hits += here;
            run = run && here;
            if (!run) continue;
            ++usable;
            tally.usable += tokens;
            if (above) tally.fast += tokens;
        }
        upper.begin(path);
        lower.begin(path);
        for (size_t i = 0; i < path.size(); ++i) {
            const auto &[id, tokens] = path[i];
            if (upper.holds(id)) continue;
            if (upper.size() >= upper.capacity()) {
                const BlockId out = upper.victim(id);
                if (out == no_block) break;
                if (!lower.holds(out) && lower.worth_writing(out) &&
                    (lower.size() < lower.capacity() || lower.victim(out) != no_block)) {
                    lower.admit(out, parent_of[out]);
                    ++tally.down_blocks;
                    tally.down_tokens += tokens_of[out];
                }
            }
            if (i < usable) {
                ++tally.up_blocks;
                tally.up_tokens += tokens;
            }
            upper.admit(id, i == 0 ? no_block : path[i - 1].id);
            tally.admitted_tokens += tokens;
        }
        upper.end(path);
        lower.end(path);
    }
    return tally;
}

} // namespace hbf::replay
