// SPDX-License-Identifier: Apache-2.0
// Least recently used, leaf first: blocks of a request are equally recent, and of these the deepest goes first. That is how
// the radix trees and block pools of today's engines evict.
#pragma once

#include "core/engine/placement/links.hpp"
#include "core/engine/placement/policy.hpp"

namespace hbf::kv::placement {

class Lru final : public Policy {
public:
    Lru(size_t capacity, size_t blocks);
    std::string_view name() const override { return "lru"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return held_[id] != 0; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override { refresh(path); }
    size_t size() const override { return size_; }

private:
    void refresh(Path path);

    OwnLinks list_; // the oldest in front
    std::vector<uint8_t> held_;
    std::vector<uint32_t> request_; // the last one that used it
    uint32_t now_ = 0;
    size_t size_ = 0;
};

} // namespace hbf::kv::placement
