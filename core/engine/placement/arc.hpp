// SPDX-License-Identifier: Apache-2.0
// ARC (Megiddo and Modha, FAST 2003): what was used once and what was used again, the share of each found by which list of
// what had gone would have hit. Blocks of a request are taken deepest first.
#pragma once

#include "core/engine/placement/links.hpp"
#include "core/engine/placement/policy.hpp"

namespace hbf::kv::placement {

class Arc final : public Policy {
public:
    Arc(size_t capacity, size_t blocks);
    std::string_view name() const override { return "arc"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return where_[id] == once || where_[id] == again || where_[id] == coming; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override;
    size_t size() const override { return count_[once] + count_[again] + count_[coming]; }

private:
    enum Place : uint8_t { nowhere, once, again, gone_once, gone_again, coming };
    void move(BlockId id, Place to);
    bool free_to_go(Place list) const;

    OwnLinks lists_; // the oldest in front
    std::vector<uint8_t> where_, was_gone_;
    std::vector<uint32_t> request_;
    size_t count_[6] = {};
    double wanted_once_ = 0;
    uint32_t now_ = 0;
};

} // namespace hbf::kv::placement
