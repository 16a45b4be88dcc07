// SPDX-License-Identifier: Apache-2.0
// Blocks that have to be fetched before this thread can attend them. A ring of windows: while one is attended the others are
// on their way, across layers too, for prefetch() says what comes next. What was fetched and not asked for is dropped and
// counted.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/attention/block_source.hpp"
#include "core/engine/attention/host_memory.hpp"
#include "core/engine/attention/place.hpp"

namespace hbf::kv {

struct SourceOptions {
    uint64_t window = 1 << 20; // bytes, at least a block: what is fetched at a time
    uint32_t windows = 16;     // at least 2; measured on a virtual drive: better than 4 of 2 MiB
    uint64_t unit = 1; // a divisor of the window: what is fetched begins and ends at its multiples, for sources that verify
                       // such units
};

struct SourceTraffic {
    uint64_t bytes = 0;        // fetched
    uint64_t dropped = 0;      // of them fetched and not attended
    uint64_t windows = 0;      // so many fetches
    uint64_t mispredicted = 0; // times that begin() named other blocks than prefetch()
};

class SourcePlace final : public AttendPlace {
public:
    // Takes memory for the ring. Code::invalid: fewer than two windows, or none to speak of.
    static Result<std::unique_ptr<SourcePlace>> open(std::unique_ptr<BlockSource> source, const SourceOptions &options = {});
    ~SourcePlace() override;
    SourcePlace(const SourcePlace &) = delete;
    SourcePlace &operator=(const SourcePlace &) = delete;

    void prefetch(const kv_shape &shape, std::span<const kv_block> blocks) override;
    Result<> begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) override;
    Result<> next(uint32_t count, float *state, float *output) override;
    void abandon() noexcept override;

    const SourceTraffic &traffic() const noexcept { return traffic_; }

private:
    struct Piece { // a block of the plan
        uint64_t offset, size;
        uint64_t from, fetched; // bytes that hold it, in whole units
        uint64_t at;            // of these in the ring, once they are fetched
        uint64_t place() const { return at + (offset - from); }
    };
    struct Window {
        uint64_t ticket = 0;
        size_t end = 0; // first piece that is not in it
        bool arrived = false;
    };

    SourcePlace(std::unique_ptr<BlockSource> source, const SourceOptions &options);
    Result<> begin_fetching(const kv_shape &shape, const float *query, std::span<const kv_block> blocks);
    Result<> attend_next(uint32_t count, float *state, float *output);
    Result<> check(const kv_shape &shape, std::span<const kv_block> blocks) const;
    Piece piece_of(const kv_block &block, uint64_t size) const;
    void plan(const kv_shape &shape, std::span<const kv_block> blocks);
    bool is_planned(const kv_shape &shape, std::span<const kv_block> blocks) const;
    void forget_taken() noexcept;
    void fetch_ahead();
    Result<> arrive();
    void finish_window() noexcept;

    // Pieces are planned, fetched and taken in one order: taken_ <= fetched_ <= plan_.size().
    std::vector<Piece> plan_;
    size_t taken_ = 0, fetched_ = 0;
    std::vector<Window> ring_; // those in flight or being attended: `used_` of them, from `first_` on
    uint32_t first_ = 0, used_ = 0;
    Result<> broken_; // why fetching ahead has ended

    kv_shape shape_{};
    const float *query_ = nullptr;
    std::span<const kv_block> blocks_;
    std::vector<kv_block> local_; // blocks of one call of the kernel, in the ring
    std::vector<Fetch> fetches_;
    SourceTraffic traffic_;
    SourceOptions options_;
    HostMemory memory_; // the ring; outlives the source, which writes to it
    std::unique_ptr<BlockSource> source_;
};

} // namespace hbf::kv
