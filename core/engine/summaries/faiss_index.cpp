// SPDX-License-Identifier: Apache-2.0
#include "core/engine/summaries/faiss_index.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <unordered_map>
#include <vector>

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/impl/IDSelector.h>
#include <fmt/format.h>

#include "core/engine/summaries/flat.hpp"
#include "core/engine/summaries/one_thread.hpp"

namespace hbf::kv::summaries {
namespace {

using idx_t = int64_t;                // as faiss has it, under changing names
constexpr int links = 16;             // of HNSW: neighbours of a node
constexpr size_t code_bytes = 12;     // of IVF-PQ, a block: 12 MB a million
constexpr size_t points_of_list = 64; // on average: FAISS wants at least 39 to train one

// Few are scanned; from `many` on FAISS takes them over. Labels are this index' own: a block that is replaced gets a new
// one, and what is found under an old one is passed over.
class FaissIndex : public SummaryIndex {
public:
    FaissIndex(uint32_t dimension, IndexKind wanted)
        : dimension_(dimension), wanted_(wanted), few_(std::make_unique<FlatIndex>(dimension)) {}

    Result<> add(BlockId block, std::span<const float> summary) override {
        if (auto is = check_summary(summary, dimension_); !is) return is;
        return guarded([&] {
            const OneThread one;
            if (!index_) {
                if (auto added = few_->add(block, summary); !added) return;
                if (few_->size() >= (wanted_ == IndexKind::hnsw ? 1 : many)) take_over();
                return;
            }
            remove(block);
            put(block, summary);
            if (labels_.size() > 2 * live_.size() + many) rebuild();
        });
    }

    void remove(BlockId block) override {
        if (!index_) return few_->remove(block);
        const auto found = live_.find(block);
        if (found == live_.end()) return;
        const idx_t label = found->second;
        live_.erase(found);
        labels_[static_cast<size_t>(label)] = no_block;
        if (kind() != IndexKind::ivf_pq) return; // a graph keeps its dead nodes
        const faiss::IDSelectorRange gone(label, label + 1);
        index_->remove_ids(gone);
    }

    size_t search(std::span<const float> query, std::span<Found> out) const override {
        if (!index_) return few_->search(query, out);
        if (query.size() != dimension_ || out.empty()) return 0;
        const OneThread one;
        // As many more as may be dead, within reason.
        const size_t dead = kind() == IndexKind::hnsw ? labels_.size() - live_.size() : 0;
        const size_t asked = std::min(labels_.size(), out.size() + std::min(dead, 2 * out.size() + 32));
        std::vector<float> likeness(asked);
        std::vector<idx_t> labels(asked);
        index_->search(1, query.data(), static_cast<idx_t>(asked), likeness.data(), labels.data());
        size_t count = 0;
        for (size_t i = 0; i < asked && count < out.size(); ++i) {
            const BlockId block = labels[i] < 0 ? no_block : labels_[static_cast<size_t>(labels[i])];
            if (block != no_block) out[count++] = {block, likeness[i]};
        }
        return count;
    }

    size_t size() const override { return index_ ? live_.size() : few_->size(); }
    IndexKind kind() const override {
        if (!index_) return IndexKind::flat;
        return wanted_ == IndexKind::hnsw ? IndexKind::hnsw : IndexKind::ivf_pq;
    }
    uint64_t bytes() const override {
        if (!index_) return few_->bytes();
        const uint64_t each = kind() == IndexKind::hnsw ? dimension_ * sizeof(float) + 2 * links * 4 : code_bytes + 8;
        return labels_.size() * (each + sizeof(BlockId)) + live_.size() * 32;
    }

private:
    template <class Body>
    static Result<> guarded(Body &&body) {
        try {
            body();
            return {};
        } catch (const std::exception &error) {
            return tl::unexpected(Error{Code::internal, fmt::format("FAISS: {}", error.what())});
        }
    }

    void take_over() {
        const auto count = static_cast<idx_t>(few_->size());
        if (wanted_ == IndexKind::hnsw) {
            index_ =
                std::make_unique<faiss::IndexHNSWFlat>(static_cast<int>(dimension_), links, faiss::METRIC_INNER_PRODUCT);
        } else {
            const auto lists = std::max<size_t>(1, few_->size() / (4 * points_of_list));
            size_t parts = code_bytes;
            while (dimension_ % parts != 0) --parts; // a part of equal length each
            auto *const quantizer = new faiss::IndexFlatIP(dimension_);
            auto made =
                std::make_unique<faiss::IndexIVFPQ>(quantizer, dimension_, lists, parts, 8, faiss::METRIC_INNER_PRODUCT);
            made->own_fields = true; // of the quantizer
            made->nprobe = std::max<size_t>(1, lists / 8);
            made->train(count, few_->vectors().data());
            index_ = std::move(made);
        }
        for (size_t i = 0; i < few_->blocks().size(); ++i)
            put(few_->blocks()[i], std::span(few_->vectors()).subspan(i * dimension_, dimension_));
        few_ = std::make_unique<FlatIndex>(dimension_);
    }

    void put(BlockId block, std::span<const float> summary) {
        const auto label = static_cast<idx_t>(labels_.size());
        labels_.push_back(block);
        live_[block] = label;
        if (kind() == IndexKind::hnsw)
            index_->add(1, summary.data()); // its labels count up by themselves
        else
            index_->add_with_ids(1, summary.data(), &label);
    }

    // Without the dead. Of HNSW alone are the vectors still there; IVF-PQ has let go of its dead already.
    void rebuild() {
        if (kind() != IndexKind::hnsw) return;
        auto kept = std::make_unique<FlatIndex>(dimension_);
        std::vector<float> vector(dimension_);
        for (const auto &[block, label] : live_) {
            index_->reconstruct(label, vector.data());
            if (!kept->add(block, vector)) continue;
        }
        few_ = std::move(kept);
        labels_.clear();
        live_.clear();
        take_over();
    }

    const uint32_t dimension_;
    const IndexKind wanted_;
    std::unique_ptr<FlatIndex> few_;
    std::unique_ptr<faiss::Index> index_;
    std::vector<BlockId> labels_; // by label; no_block: dead
    std::unordered_map<BlockId, idx_t> live_;
};

} // namespace

std::unique_ptr<SummaryIndex> make_faiss_index(uint32_t dimension, IndexKind kind) {
    return std::make_unique<FaissIndex>(dimension, kind);
}

} // namespace hbf::kv::summaries
