// SPDX-License-Identifier: Apache-2.0
// Blocks by the likeness of their summaries to a query: an exact scan for few, FAISS' IVF-PQ or HNSW for many.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/engine/types.hpp"
#include "hbf/status.hpp"

namespace hbf::kv::summaries {

enum class IndexKind : uint8_t { automatic, flat, ivf_pq, hnsw };
std::string_view to_string(IndexKind kind) noexcept; // "ivf_pq"

struct Found {
    BlockId block = no_block;
    float likeness = 0; // inner product with the query
};

class SummaryIndex {
public:
    // IVF-PQ cannot be trained on fewer; below it, automatic scans all.
    static constexpr uint32_t many = 16 * 1024;

    // INVALID: no dimension. UNSUPPORTED: a kind that this build has not (automatic then scans, however many there are).
    static Result<std::unique_ptr<SummaryIndex>> make(uint32_t dimension, IndexKind kind = IndexKind::automatic);
    virtual ~SummaryIndex() = default;
    SummaryIndex(const SummaryIndex &) = delete;
    SummaryIndex &operator=(const SummaryIndex &) = delete;

    // One thread at a time for these. A block that is there is replaced. INVALID: not `dimension` finite numbers.
    virtual Result<> add(BlockId block, std::span<const float> summary) = 0;
    virtual void remove(BlockId block) = 0;
    // Most alike first; the number found. [any thread, while nobody changes it]
    virtual size_t search(std::span<const float> query, std::span<Found> out) const = 0;

    virtual size_t size() const = 0;
    virtual IndexKind kind() const = 0; // as it is now, never automatic
    virtual uint64_t bytes() const = 0; // about

protected:
    SummaryIndex() = default;
};

Result<> check_summary(std::span<const float> summary, uint32_t dimension);

} // namespace hbf::kv::summaries
