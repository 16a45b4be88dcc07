// SPDX-License-Identifier: Apache-2.0
// Attention of one sequence over its blocks wherever they are: where the CPU sees them in place, on a device that has a
// kernel for it there, else fetched, ahead of who attends them and into the next lane too. All of a lane is attended inside
// one epoch: no block of it is freed or used anew meanwhile. What is fetched beyond that is taken only if its block is still
// in the same place, by the generation of which no two states of a block are alike.
//
// A place that fails is not trusted: the lane is attended again by this thread, block by block, with what is kept below.
// The result has the same bits, for the order in which blocks are put together is that of the lane.
#pragma once

#include <memory>
#include <optional>

#include "core/engine/attention/device_place.hpp"
#include "core/engine/attention/exact.hpp"
#include "core/engine/attention/selective.hpp"
#include "core/engine/attention/source_place.hpp"
#include "core/engine/blocks/attend_place.hpp"

namespace hbf::kv {

// One thread at a time.
class Attending {
public:
    static constexpr uint32_t sketch_bits = 4;
    struct Piece { // a block of a lane, and what of it belongs to the sequence
        BlockId block;
        uint32_t tokens;
    };
    using Pieces = std::vector<Piece>;

    explicit Attending(CacheCore &cache);
    ~Attending();
    Attending(const Attending &) = delete;
    Attending &operator=(const Attending &) = delete;

    // Of the lane's last `tokens` tokens: query and output of its heads, token after token. `next` (may be empty): the lane
    // that will be attended after this one.
    Result<> exact(Worker &worker, const Pieces &lane, const Pieces &next, const float *query, uint32_t tokens,
                   float *output, AttendReport &report);
    // Of its last token.
    Result<> selective(Worker &worker, uint32_t number, const Pieces &lane, const AttendOptions &options, const float *query,
                       float *output, AttendReport &report);

    // Brings the lane's index up to its tokens, if it has one.
    Result<> follow(Worker &worker, uint32_t number, const Pieces &lane);
    bool follows(uint32_t number) const { return number < indexes_.size() && indexes_[number].has_value(); }
    // The lane has only so many blocks now, and of the last so many tokens.
    void forget(uint32_t number, size_t blocks, uint32_t last_tokens);

    bool wants_next() const { return found_.elsewhere; } // something of the last lane was not in the CPU's memory

private:
    // Somewhere that the CPU does not see: blocks of a pool, attended on the device, or fetched.
    struct Elsewhere {
        TierPool *pool = nullptr;
        std::unique_ptr<DevicePlace> device;
        std::unique_ptr<SourcePlace> source;
        uint64_t counted = 0; // of what the place did, bytes that are in a report already
        uint32_t failures = 0;
        AttendPlace *place() const { return device ? static_cast<AttendPlace *>(device.get()) : source.get(); }
    };
    struct Found { // a lane's blocks, as of now
        kv_shape shape{};
        std::vector<Block> blocks;
        std::vector<LanePlace::Entry> entries;
        std::vector<uint64_t> words; // where those lie that have to be fetched
        bool elsewhere = false;
    };

    void find(const Pieces &lane, uint64_t whole, bool trust, const kv_shape *as, Found &found);
    bool find_elsewhere(TierPool &pool, const Spot &spot, uint64_t granule, uint32_t tokens, Found &found);
    Elsewhere *of(TierPool &pool, Region region);
    void look_ahead(const Pieces &next);
    void distrust();
    Result<> attend(Worker &worker, const Pieces &lane, const Pieces &next, const float *query, uint32_t tokens,
                    float *output);
    Result<> choose(Worker &worker, const AttendOptions &options, const KeyIndex &index, const Pieces &lane,
                    const float *query, float *output);
    void count(AttendReport &report, bool selectively);
    std::span<AttendPlace *const> places();

    CacheCore &cache_;
    LanePlace here_;
    Found found_, next_;
    std::vector<uint64_t> planned_; // words of blocks that sources were told of, beyond the lane that was attended
    Elsewhere elsewhere_[tier_count];
    std::vector<AttendPlace *> places_;
    ExactAttention exact_;
    SelectiveAttention selective_;
    std::vector<std::optional<KeyIndex>> indexes_; // of each lane
    uint64_t index_bytes_ = 0, counted_[tier_count] = {}, counted_alone_ = 0;
};

} // namespace hbf::kv
