// SPDX-License-Identifier: Apache-2.0
#include "core/engine/summaries/flat.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/engine/summaries/faiss_index.hpp"

namespace hbf::kv::summaries {

std::string_view to_string(IndexKind kind) noexcept {
    constexpr std::string_view names[] = {"automatic", "flat", "ivf_pq", "hnsw"};
    return names[static_cast<size_t>(kind)];
}

Result<> check_summary(std::span<const float> summary, uint32_t dimension) {
    if (summary.size() != dimension) {
        return tl::unexpected(
            Error{Code::invalid, fmt::format("a summary of {} numbers in an index of {}", summary.size(), dimension)});
    }
    const auto odd = std::find_if_not(summary.begin(), summary.end(), [](float x) { return std::isfinite(x); });
    if (odd != summary.end())
        return tl::unexpected(
            Error{Code::invalid, fmt::format("number {} of a summary is {}", odd - summary.begin(), *odd)});
    return {};
}

Result<std::unique_ptr<SummaryIndex>> SummaryIndex::make(uint32_t dimension, IndexKind kind) {
    if (dimension == 0) return tl::unexpected(Error{Code::invalid, "an index of vectors without numbers"});
    if (kind == IndexKind::flat) return std::make_unique<FlatIndex>(dimension);
    if (auto made = make_faiss_index(dimension, kind)) return made;
    if (kind == IndexKind::automatic) return std::make_unique<FlatIndex>(dimension);
    return tl::unexpected(
        Error{Code::unsupported,
              fmt::format("index kind {} needs FAISS, which this build has not: flat or automatic", to_string(kind))});
}

Result<> FlatIndex::add(BlockId block, std::span<const float> summary) {
    if (auto is = check_summary(summary, dimension_); !is) return is;
    const auto [row, fresh] = rows_.try_emplace(block, blocks_.size());
    if (fresh) {
        blocks_.push_back(block);
        vectors_.insert(vectors_.end(), summary.begin(), summary.end());
    } else {
        std::copy(summary.begin(), summary.end(), vectors_.begin() + static_cast<ptrdiff_t>(row->second * dimension_));
    }
    return {};
}

void FlatIndex::remove(BlockId block) {
    const auto found = rows_.find(block);
    if (found == rows_.end()) return;
    const size_t row = found->second, last = blocks_.size() - 1;
    rows_.erase(found);
    if (row != last) { // the last one takes its place
        blocks_[row] = blocks_[last];
        rows_[blocks_[row]] = row;
        std::copy_n(vectors_.begin() + static_cast<ptrdiff_t>(last * dimension_), dimension_,
                    vectors_.begin() + static_cast<ptrdiff_t>(row * dimension_));
    }
    blocks_.pop_back();
    vectors_.resize(last * dimension_);
}

size_t FlatIndex::search(std::span<const float> query, std::span<Found> out) const {
    if (query.size() != dimension_ || out.empty()) return 0;
    const auto worse = [](const Found &a, const Found &b) { return a.likeness > b.likeness; };
    size_t count = 0; // out[0, count) is a heap whose first is the least alike
    for (size_t row = 0; row < blocks_.size(); ++row) {
        const float *const vector = vectors_.data() + row * dimension_;
        float sums[8] = {};
        size_t i = 0;
        for (; i + 8 <= dimension_; i += 8)
            for (size_t k = 0; k < 8; ++k) sums[k] += vector[i + k] * query[i + k];
        float likeness = 0;
        for (; i < dimension_; ++i) likeness += vector[i] * query[i];
        for (const float sum : sums) likeness += sum;
        const auto end = [&] { return out.begin() + static_cast<ptrdiff_t>(count); };
        if (count == out.size()) {
            if (!(likeness > out[0].likeness)) continue;
            std::pop_heap(out.begin(), end(), worse);
            --count;
        }
        out[count++] = {blocks_[row], likeness};
        std::push_heap(out.begin(), end(), worse);
    }
    std::sort_heap(out.begin(), out.begin() + static_cast<ptrdiff_t>(count), worse);
    return count;
}

uint64_t FlatIndex::bytes() const {
    return vectors_.capacity() * sizeof(float) + blocks_.capacity() * sizeof(BlockId) + rows_.size() * 32;
}

} // namespace hbf::kv::summaries
