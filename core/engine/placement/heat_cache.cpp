// SPDX-License-Identifier: Apache-2.0
#include "core/engine/placement/heat_cache.hpp"

#include <algorithm>

namespace hbf::kv::placement {
HeatCache::HeatCache(size_t capacity, size_t blocks, const HeatOptions &options)
    : Policy(capacity), records_(blocks), key_of_{&records_, options.boost_octaves}, queue_({&records_}, key_of_),
      ghosts_({&records_}, key_of_), ghost_limit_(static_cast<size_t>(options.ghosts * static_cast<double>(capacity))) {
    if (options.alpha > 0) {
        half_life_ = half_life_of(options.alpha);
    } else {
        tuner_ = std::make_unique<Tuner>(standard_candidates(options.lower), standard_candidate, capacity,
                                         std::min(blocks, capacity + ghost_limit_));
        half_life_ = tuner_->best().half_life;
    }
    pace_ = pace_of(half_life_);
    aside_.reserve(64);
}

void HeatCache::begin(Path path) {
    now_ += pace_;
    queue_.advance(now_);
    ghosts_.advance(now_);
    ++stamp_;
    uint16_t depth = 0;
    constexpr size_t ahead = 12;
    for (size_t i = 0; i < path.size(); ++i) {
        const BlockId id = path[i].id;
        if (i + ahead < path.size()) prefetch(path[i + ahead].id);
        Record &record = records_[id];
        if (record.stamp != stamp_ || record.uses == 0) { // not twice in a request
            record.stamp = stamp_;
            if (record.uses == 0 && record.children == 0) record.depth = depth;
            record.uses = static_cast<uint8_t>(std::min(255, record.uses + 1));
            record.key = add_use(record.key, now_);
            if ((record.flags & (held | ghost)) == 0) ++missing_;
        }
        if (depth != UINT16_MAX) ++depth;
    }
    if (!tuner_) return;
    tuner_->request(path);
    if (tuner_->best().half_life == half_life_) return;
    half_life_ = tuner_->best().half_life;
    pace_ = pace_of(half_life_);
}

void HeatCache::admit(BlockId id, BlockId parent) {
    if (last_admitted_ != no_block && last_admitted_ != parent) queue(last_admitted_);
    Record &record = records_[id];
    if ((record.flags & ghost) != 0)
        ghosts_.remove(id);
    else if (missing_ > 0)
        --missing_;
    record.flags = static_cast<uint8_t>((record.flags & ~ghost) | held);
    // Deeper than its parent, or paths that contradict each other could make a ring of which nothing may go.
    record.parent = parent != no_block && records_[parent].depth < record.depth ? parent : no_block;
    if (record.parent != no_block) {
        ++records_[record.parent].children;
        unqueue(record.parent);
    }
    ++size_;
    last_admitted_ = id; // most get a child at once: queued only when it is clear that this one does not
}

BlockId HeatCache::victim(BlockId incoming) {
    if (last_admitted_ != no_block && records_[last_admitted_].stamp != stamp_) {
        queue(last_admitted_);
        last_admitted_ = no_block;
    }
    while (true) {
        const BlockId id = queue_.coldest();
        if (id == no_block) return no_block;
        unqueue(id);
        if (records_[id].stamp == stamp_ || id == incoming) {
            aside_.push_back(id);
            continue;
        }
        fill_line_ = heat(id);
        leave(id);
        to_ghosts(id);
        return id;
    }
}

void HeatCache::end(Path path) {
    if (last_admitted_ != no_block) queue(last_admitted_);
    last_admitted_ = no_block;
    for (const BlockId id : aside_) queue(id);
    aside_.clear();
    if (missing_ == 0) return;
    missing_ = 0;
    for (const auto &[id, tokens] : path) {
        if ((records_[id].flags & (held | ghost)) == 0) to_ghosts(id);
    }
}

bool HeatCache::worth_writing(BlockId id) const {
    const Record &record = records_[id];
    if (record.children > 0) return true; // they would be of no use without it
    if (tuner_ && tuner_->best().second_use && record.uses < 2) return false;
    return size_ < capacity() || !fill_line_ || heat(id) >= *fill_line_;
}

void HeatCache::give_up(BlockId id) {
    if ((records_[id].flags & held) == 0) {
        if ((records_[id].flags & ghost) == 0 && records_[id].uses > 0) to_ghosts(id);
        return;
    }
    unqueue(id);
    std::erase(aside_, id);
    if (last_admitted_ == id) last_admitted_ = no_block;
    leave(id);
    to_ghosts(id);
}

void HeatCache::drop(BlockId id) {
    unqueue(id);
    if ((records_[id].flags & held) != 0) leave(id);
    if (last_admitted_ == id) last_admitted_ = no_block;
    std::erase(aside_, id);
    forget(id);
}

void HeatCache::leave(BlockId id) {
    Record &record = records_[id];
    record.flags = static_cast<uint8_t>(record.flags & ~(held | pinned));
    --size_;
    if (record.parent == no_block) return;
    if (--records_[record.parent].children == 0) queue(record.parent);
}

void HeatCache::to_ghosts(BlockId id) {
    if (ghost_limit_ == 0) return forget(id);
    records_[id].flags |= ghost;
    ghosts_.put(id);
    if (ghosts_.size() > ghost_limit_) forget(ghosts_.coldest());
}

void HeatCache::forget(BlockId id) {
    Record &record = records_[id];
    if ((record.flags & ghost) != 0) ghosts_.remove(id);
    record.flags = static_cast<uint8_t>(record.flags & ~ghost);
    record.key = never;
    record.uses = record.cost = record.relevance = 0;
    if (tuner_) tuner_->forget(id);
}

void HeatCache::queue(BlockId id) {
    Record &record = records_[id];
    if ((record.flags & (held | queued | pinned)) != held || record.children > 0) return;
    record.flags |= queued;
    queue_.put(id);
}

void HeatCache::unqueue(BlockId id) {
    Record &record = records_[id];
    if ((record.flags & queued) == 0) return;
    record.flags = static_cast<uint8_t>(record.flags & ~queued);
    queue_.remove(id);
}

void HeatCache::pin(BlockId id) {
    records_[id].flags |= pinned;
    unqueue(id);
}

void HeatCache::unpin(BlockId id) {
    records_[id].flags = static_cast<uint8_t>(records_[id].flags & ~pinned);
    queue(id);
}

void HeatCache::raise(BlockId id, uint8_t Record::*term, uint8_t value) {
    for (BlockId at = id; at != no_block && records_[at].*term < value; at = records_[at].parent) records_[at].*term = value;
}

void HeatCache::set_relevance(BlockId id, uint8_t value) {
    raise(id, &Record::relevance, value);
}

void HeatCache::set_cost(BlockId id, uint8_t eighths) {
    raise(id, &Record::cost, eighths);
}

// They stand too far back now and go the later for it, once.
void HeatCache::clear_relevance(BlockId id) {
    for (BlockId at = id; at != no_block && records_[at].relevance != 0; at = records_[at].parent)
        records_[at].relevance = 0;
}

HeatCache::Facts HeatCache::facts(BlockId id) const {
    const Record &record = records_[id];
    return {record.key,
            record.parent,
            record.children,
            record.depth,
            record.uses,
            record.relevance,
            record.cost,
            (record.flags & held) != 0,
            (record.flags & ghost) != 0,
            (record.flags & pinned) != 0,
            record.children == 0};
}

} // namespace hbf::kv::placement
