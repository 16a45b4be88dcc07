// SPDX-License-Identifier: Apache-2.0
#include <queue>

#include "tools/replay/simulate.hpp"

namespace hbf::replay {
namespace {

constexpr uint32_t no_more = UINT32_MAX;

// The request in which each access's block is used next.
std::vector<uint32_t> next_uses(const Trace &trace) {
    std::vector<uint32_t> next(trace.accesses.size(), no_more), last(trace.blocks, no_more);
    for (size_t request = trace.requests(); request-- > 0;) {
        for (size_t i = trace.starts[request]; i < trace.starts[request + 1]; ++i) next[i] = last[trace.accesses[i].id];
        for (size_t i = trace.starts[request]; i < trace.starts[request + 1]; ++i)
            last[trace.accesses[i].id] = static_cast<uint32_t>(request);
    }
    return next;
}

struct Entry { // in the order of who goes first; out of date where the block's own say differs
    uint32_t next, depth;
    BlockId id;
    bool operator<(const Entry &other) const { return next != other.next ? next < other.next : depth < other.depth; }
};

} // namespace

Tally replay_best(const Trace &trace, size_t capacity) {
    Tally tally;
    const auto next = next_uses(trace);
    constexpr uint32_t absent = no_more - 1;
    std::vector<uint32_t> next_of(trace.blocks, absent);
    std::priority_queue<Entry> farthest;
    size_t size = 0;
    for (size_t request = 0; request < trace.requests(); ++request) {
        const Path path = trace.path(request);
        const size_t start = trace.starts[request];
        bool run = true;
        tally.accesses += path.size();
        for (size_t i = 0; i < path.size(); ++i) {
            const auto &[id, tokens] = path[i];
            const bool here = next_of[id] != absent;
            tally.tokens += tokens;
            tally.hits += here;
            run = run && here;
            if (run) tally.usable += tokens;
            if (!here) continue;
            next_of[id] = next[start + i];
            farthest.push({next[start + i], static_cast<uint32_t>(i), id});
        }
        for (size_t i = 0; i < path.size(); ++i) {
            const auto &[id, tokens] = path[i];
            if (next_of[id] != absent) continue;
            const Entry mine{next[start + i], static_cast<uint32_t>(i), id};
            if (mine.next == no_more) continue; // never again: it stays out
            if (size >= capacity) {
                while (!farthest.empty() && next_of[farthest.top().id] != farthest.top().next) farthest.pop();
                if (farthest.empty() || !(mine < farthest.top())) continue;
                next_of[farthest.top().id] = absent;
                farthest.pop();
                --size;
            }
            next_of[id] = mine.next;
            farthest.push(mine);
            ++size;
            tally.admitted_tokens += tokens;
        }
    }
    tally.fast = tally.usable;
    return tally;
}

} // namespace hbf::replay
