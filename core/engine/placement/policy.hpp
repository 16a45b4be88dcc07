// SPDX-License-Identifier: Apache-2.0
// What a cache of blocks decides by: one interface for AHAS and for what it is compared with. The cache holds a bounded
// number of blocks; a request is a path of blocks from the head of a sequence on.
//
// For each request, in this order:
//     begin(path)                              time passes; blocks of the path, here or not, have been used
//     while blocks are missing:  victim(), if it is full, then admit()
//     end(path)
// Between begin and end no block of the path becomes a victim. One thread at a time; nothing allocates after reserve().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/engine/types.hpp"

namespace hbf::kv::placement {

struct PathBlock {
    BlockId id;
    uint32_t tokens; // that it holds: what a hit is worth
};
using Path = std::span<const PathBlock>;

class Policy {
public:
    Policy(const Policy &) = delete;
    Policy &operator=(const Policy &) = delete;
    virtual ~Policy() = default;

    virtual std::string_view name() const = 0;
    virtual void begin(Path path) = 0;
    virtual bool holds(BlockId id) const = 0;
    // Not held, and size() < capacity(). `parent`: the block before it in the path, or no_block.
    virtual void admit(BlockId id, BlockId parent) = 0;
    // Takes out the block that is worth least, to make room for `incoming`; no_block if none may go.
    virtual BlockId victim(BlockId incoming) = 0;
    virtual void end(Path path) = 0;
    // Of a lower level: is a block that an upper level gives up worth writing here?
    virtual bool worth_writing(BlockId) const { return true; }
    virtual size_t size() const = 0;
    size_t capacity() const { return capacity_; }

protected:
    explicit Policy(size_t capacity) : capacity_(capacity) {}

private:
    size_t capacity_;
};

struct PolicyOptions {
    double alpha = 0;   // AHAS: decay per request, 0 adapts it
    bool lower = false; // a level that gets what another gives up
};

const std::vector<std::string> &policy_names(); // "ahas", "lru", "s3fifo", "arc"

// For block ids below `blocks`. The error names the policy and those there are.
tl::expected<std::unique_ptr<Policy>, std::string> make_policy(std::string_view name, size_t capacity, size_t blocks,
                                                               const PolicyOptions &options = {});

} // namespace hbf::kv::placement
