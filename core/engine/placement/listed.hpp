// SPDX-License-Identifier: Apache-2.0
// A policy whose blocks are each in one of a few lists, some of them lists of what has gone. What the running request used
// is known, for none of it may leave.
#pragma once

#include "core/engine/placement/links.hpp"
#include "core/engine/placement/policy.hpp"

namespace hbf::kv::placement {

class Listed : public Policy {
protected:
    using Place = uint8_t; // a list; 0: in none
    static constexpr Place nowhere = 0;

    Listed(size_t capacity, size_t blocks, size_t places)
        : Policy(capacity), lists_(blocks, places), where_(blocks), request_(blocks), count_(places) {}

    void move(BlockId id, Place to) { // to the end of the list
        if (where_[id] != nowhere) {
            lists_->take_out(id);
            --count_[where_[id]];
        }
        where_[id] = to;
        ++count_[to];
        if (to != nowhere) lists_->push_back(to, id);
    }
    BlockId oldest(Place list) const { return lists_->front(list); } // no_block: empty
    Place where(BlockId id) const { return where_[id]; }
    size_t count(Place list) const { return count_[list]; }

    void next_request() { ++now_; }
    void use(BlockId id) { request_[id] = now_; }
    bool is_used_now(BlockId id) const { return request_[id] == now_; }

private:
    OwnLinks lists_; // the oldest in front
    std::vector<Place> where_;
    std::vector<uint32_t> request_; // the last one that used it
    std::vector<size_t> count_;
    uint32_t now_ = 0;
};

} // namespace hbf::kv::placement
