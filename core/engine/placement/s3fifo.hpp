// SPDX-License-Identifier: Apache-2.0
// S3-FIFO (Yang et al., SOSP 2023): a small queue for what is new, a main one for what was used again, and a list of what
// left the small one unused. Blocks of a request are inserted deepest first.
#pragma once

#include "core/engine/placement/links.hpp"
#include "core/engine/placement/policy.hpp"

namespace hbf::kv::placement {

class S3Fifo final : public Policy {
public:
    S3Fifo(size_t capacity, size_t blocks);
    std::string_view name() const override { return "s3fifo"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return where_[id] == small || where_[id] == main || where_[id] == coming; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override;
    size_t size() const override { return count_[small] + count_[main] + count_[coming]; }

private:
    enum Place : uint8_t { nowhere, small, main, ghost, coming };
    void move(BlockId id, Place to);

    OwnLinks lists_;
    std::vector<uint8_t> where_, uses_, was_ghost_;
    std::vector<uint32_t> request_;
    size_t count_[5] = {}, small_most_;
    uint32_t now_ = 0;
};

} // namespace hbf::kv::placement
