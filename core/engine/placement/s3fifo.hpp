// SPDX-License-Identifier: Apache-2.0
// S3-FIFO (Yang et al., SOSP 2023): a small queue for what is new, a main one for what was used again, and a list of what
// left the small one unused. Blocks of a request are inserted deepest first.
#pragma once

#include "core/engine/placement/listed.hpp"

namespace hbf::kv::placement {

class S3Fifo final : public Listed {
public:
    S3Fifo(size_t capacity, size_t blocks);
    std::string_view name() const override { return "s3fifo"; }
    void begin(Path path) override;
    bool holds(BlockId id) const override { return where(id) == small || where(id) == main || where(id) == coming; }
    void admit(BlockId id, BlockId parent) override;
    BlockId victim(BlockId incoming) override;
    void end(Path path) override;
    size_t size() const override { return count(small) + count(main) + count(coming); }

private:
    enum : Place { small = 1, main, ghost, coming, places };

    std::vector<uint8_t> uses_, was_ghost_;
    size_t small_most_;
};

} // namespace hbf::kv::placement
