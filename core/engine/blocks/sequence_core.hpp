// SPDX-License-Identifier: Apache-2.0
// A sequence: its tokens, and for each lane (a layer's group of heads) the list of blocks that hold them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/blocks/attend.hpp"
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

class SequenceCore {
public:
    SequenceCore(std::shared_ptr<CacheCore> cache, std::string_view tenant);
    ~SequenceCore();
    SequenceCore(const SequenceCore &) = delete;
    SequenceCore &operator=(const SequenceCore &) = delete;

    Result<> adopt(std::span<const uint32_t> prompt); // the longest prefix that every lane has
    Result<> append(std::span<const uint32_t> tokens);
    Result<> put(uint32_t layer, std::span<const std::byte> keys, std::span<const std::byte> values);
    Result<> read(uint32_t layer, uint64_t first, uint64_t count, std::span<std::byte> keys, std::span<std::byte> values);
    Result<AttendReport> attend(uint32_t layer, std::span<const float> query, std::span<float> output,
                                const AttendOptions &options);
    Result<std::unique_ptr<SequenceCore>> fork() const;
    Result<> truncate(uint64_t tokens);
    Result<uint64_t> move_to(Tier tier);
    Result<uint64_t> pin(std::chrono::milliseconds time); // heat_sequence.cpp
    Result<> set_query_vector(std::span<const float> query);

    uint64_t process() const { return cache_->process(); }
    uint64_t tokens() const { return committed_; }
    uint64_t reused() const { return reused_; }
    std::vector<BlockId> blocks(uint32_t layer, uint32_t group) const;

private:
    struct Entry {
        BlockId block;
        uint32_t first; // position of its first token
    };
    struct Lane {
        std::vector<Entry> entries; // the last may be used in part
        uint64_t tokens = 0;
        uint32_t reads = 0; // of attend() and read()
    };
    // What of a lane lies in one block.
    struct Piece {
        BlockId block;
        uint32_t tokens; // from its first on
    };

    std::span<Lane> lanes_of(uint32_t layer) {
        return std::span(lanes_).subspan(size_t{layer} * cache_->model().head_groups, cache_->model().head_groups);
    }
    Piece piece(const Lane &lane, size_t entry) const;
    // Heat: heat_sequence.cpp
    void begin_request();
    void end_request();
    void lane_is_read(uint32_t number, bool next_too);                // next_too: and the next lane after it, all of it
    void ask_relevance(uint32_t layer, std::span<const float> query); // of attend, where nobody said what is asked
    void find_relevant(std::span<const float> query);
    double nearness(const std::byte *bytes, const kernels::device::kv_shape &shape, uint32_t tokens,
                    std::span<const float> query) const;
    Result<> check_layer(uint32_t layer) const;
    Result<> verify_layer(uint32_t layer); // where the cache verifies what is read
    uint64_t adopt_lane(uint32_t lane, std::span<const uint32_t> prompt, uint64_t most, Identity &missing);
    uint64_t load_adopted(uint64_t tokens);
    void cut(Lane &lane, uint64_t tokens);
    void list(uint32_t lane, Attending::Pieces &out) const;
    Result<> attend_lane(Worker &worker, uint32_t lane, std::span<const float> query, uint32_t tokens,
                         std::span<float> output, const AttendOptions &options, AttendReport &report);
    void follow(Worker &worker, uint32_t lane);
    Result<> put_lane(Worker &worker, uint32_t lane, const std::byte *keys, const std::byte *values, uint64_t count);
    Result<uint32_t> room(Worker &worker, uint32_t lane); // free tokens of the last block, which is the lane's own
    void seal_last(Worker &worker, uint32_t lane);

    const std::shared_ptr<CacheCore> cache_;
    const std::string tenant_;
    const uint16_t tenant_number_;
    const BlockIdentities identities_;
    std::vector<Lane> lanes_;
    std::vector<uint32_t> tokens_; // with those of the step
    std::vector<bool> put_;        // layers that have been put in this step
    uint64_t committed_ = 0, reused_ = 0;
    std::vector<std::byte> rows_;          // one group's rows, where a layer has several
    std::unique_ptr<Attending> attending_; // once it was attended
    Attending::Pieces pieces_, next_pieces_;
    std::vector<float> query_, output_;    // one group's heads, of several tokens
    std::vector<BlockId> adopted_, tails_; // the last blocks that were taken over, and that there are, a lane each
    bool query_given_ = false;             // by set_query_vector()
};

} // namespace hbf::kv
