// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "core/engine/summaries/index.hpp"

namespace hbf::kv::summaries {

// All of them, exactly.
class FlatIndex : public SummaryIndex {
public:
    explicit FlatIndex(uint32_t dimension) : dimension_(dimension) {}
    Result<> add(BlockId block, std::span<const float> summary) override;
    void remove(BlockId block) override;
    size_t search(std::span<const float> query, std::span<Found> out) const override;
    size_t size() const override { return blocks_.size(); }
    IndexKind kind() const override { return IndexKind::flat; }
    uint64_t bytes() const override;

    // For whoever takes them over: vectors one after the other, and whose they are.
    const std::vector<float> &vectors() const { return vectors_; }
    const std::vector<BlockId> &blocks() const { return blocks_; }

private:
    uint32_t dimension_;
    std::vector<float> vectors_;
    std::vector<BlockId> blocks_;
    std::unordered_map<BlockId, size_t> rows_;
};

} // namespace hbf::kv::summaries
