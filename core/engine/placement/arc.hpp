// SPDX-License-Identifier: Apache-2.0
// ARC (Megiddo and Modha, FAST 2003): what was used once and what was used again, the share of each found by which list of
// what had gone would have hit. Blocks of a request are taken deepest first.
#pragma once

#include "core/engine/placement/listed.hpp"

namespace hbf::kv::placement {

class Arc final : public Listed {
public:
    Arc(size_t capacity, size_t blocks);
    std::string_view name() const override { return "arc"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return where(id) == once || where(id) == again || where(id) == coming; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override;
    size_t size() const override { return count(once) + count(again) + count(coming); }

private:
    enum : Place { once = 1, again, gone_once, gone_again, coming, places };
    bool free_to_go(Place list) const;

    std::vector<uint8_t> was_gone_;
    double wanted_once_ = 0;
};

} // namespace hbf::kv::placement
