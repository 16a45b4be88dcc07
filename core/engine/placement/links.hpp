// SPDX-License-Identifier: Apache-2.0
// Lists threaded through the blocks: two numbers a block, no allocation. Each list is a ring through an anchor, so that a
// member is taken out without knowing which list it is in. Members are below 2^31.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/types.hpp"

namespace hbf::kv::placement {

struct Link {
    uint32_t before, after; // a member, or anchor_flag + number of a list
};
constexpr uint32_t anchor_flag = 0x8000'0000;

// `LinkOf` gives the Link of a member.
template <class LinkOf>
class Links {
public:
    Links(LinkOf link_of, size_t lists) : link_of_(link_of), anchors_(lists) {
        for (uint32_t i = 0; i < lists; ++i) anchors_[i] = {i | anchor_flag, i | anchor_flag};
    }

    bool empty(uint32_t list) const { return (anchors_[list].after & anchor_flag) != 0; }
    BlockId front(uint32_t list) const { return empty(list) ? no_block : anchors_[list].after; }
    BlockId after(BlockId member) { // the next of its list
        const uint32_t next = link_of_(member).after;
        return (next & anchor_flag) != 0 ? no_block : next;
    }
    void push_back(uint32_t list, BlockId member) { insert(member, anchors_[list].before, list | anchor_flag); }
    void push_front(uint32_t list, BlockId member) { insert(member, list | anchor_flag, anchors_[list].after); }
    void take_out(BlockId member) {
        const Link link = link_of_(member);
        at(link.before).after = link.after;
        at(link.after).before = link.before;
    }
    // All of `from`, in their order, before those of `to`.
    void move_before(uint32_t from, uint32_t to) {
        if (empty(from)) return;
        const Link moved = anchors_[from];
        const uint32_t first = anchors_[to].after;
        at(moved.before).after = first;
        at(first).before = moved.before;
        at(moved.after).before = to | anchor_flag;
        anchors_[to].after = moved.after;
        anchors_[from] = {from | anchor_flag, from | anchor_flag};
    }

private:
    Link &at(uint32_t place) { return (place & anchor_flag) != 0 ? anchors_[place & ~anchor_flag] : link_of_(place); }
    void insert(BlockId member, uint32_t before, uint32_t after) {
        link_of_(member) = {before, after};
        at(before).after = member;
        at(after).before = member;
    }

    LinkOf link_of_;
    std::vector<Link> anchors_;
};

// Lists over an array of links of their own.
class OwnLinks {
public:
    OwnLinks(size_t members, size_t lists) : links_(members), lists_({&links_}, lists) {}
    OwnLinks(const OwnLinks &) = delete;
    OwnLinks &operator=(const OwnLinks &) = delete;
    auto *operator->() { return &lists_; }
    const auto *operator->() const { return &lists_; }

private:
    struct Of {
        std::vector<Link> *links;
        Link &operator()(BlockId id) const { return (*links)[id]; }
    };
    std::vector<Link> links_;
    Links<Of> lists_;
};

} // namespace hbf::kv::placement
