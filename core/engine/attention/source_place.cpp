// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/source_place.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/attention/kept.hpp"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

SourcePlace::SourcePlace(std::unique_ptr<BlockSource> source, const SourceOptions &options)
    : ring_(options.windows), options_(options), source_(std::move(source)) {}

Result<std::unique_ptr<SourcePlace>> SourcePlace::open(std::unique_ptr<BlockSource> source, const SourceOptions &options) {
    constexpr uint64_t page = 4096; // direct I/O asks for its multiples
    if (options.windows < 2 || options.window < page || options.window % page != 0 ||
        options.window > (uint64_t{1} << 40) / options.windows)
        return fail(Code::invalid, fmt::format("{} windows of {} bytes: there must be 2 at least, and their size a multiple "
                                               "of 4096",
                                               options.windows, options.window));
    if (options.unit == 0 || options.window % options.unit != 0)
        return fail(Code::invalid,
                    fmt::format("units of {} bytes do not divide windows of {}", options.unit, options.window));
    std::unique_ptr<SourcePlace> place(new SourcePlace(std::move(source), options));
    auto memory = HostMemory::take(options.window * options.windows);
    if (!memory) return tl::unexpected(memory.error());
    place->memory_ = std::move(*memory);
    if (auto attached = place->source_->attach(place->memory_.bytes()); !attached) return tl::unexpected(attached.error());
    return place;
}

SourcePlace::~SourcePlace() {
    abandon();
    if (source_->is_finished()) return;
    keep_for_ever(std::move(source_));
    keep_for_ever(std::move(memory_));
}

SourcePlace::Piece SourcePlace::piece_of(const kv_block &block, uint64_t size) const {
    const uint64_t from = block.offset / options_.unit * options_.unit,
                   end = (block.offset + size + options_.unit - 1) / options_.unit * options_.unit;
    return {block.offset, size, from, end - from, 0};
}

Result<> SourcePlace::check(const kv_shape &shape, std::span<const kv_block> blocks) const {
    if (auto checked = check_blocks(shape, blocks, source_->size()); !checked) return checked;
    const uint64_t size = kernels::device::kv_block_size(shape);
    for (const kv_block &block : blocks)
        if (piece_of(block, size).fetched > options_.window)
            return fail(Code::invalid,
                        fmt::format("a block of {} bytes does not fit into windows of {} bytes", size, options_.window));
    return {};
}

void SourcePlace::plan(const kv_shape &shape, std::span<const kv_block> blocks) {
    const uint64_t size = kernels::device::kv_block_size(shape);
    for (const kv_block &block : blocks) plan_.push_back(piece_of(block, size));
}

bool SourcePlace::is_planned(const kv_shape &shape, std::span<const kv_block> blocks) const {
    const uint64_t size = kernels::device::kv_block_size(shape);
    const size_t known = std::min(plan_.size() - taken_, blocks.size());
    for (size_t i = 0; i < known; ++i)
        if (plan_[taken_ + i].offset != blocks[i].offset || plan_[taken_ + i].size != size) return false;
    return true;
}

void SourcePlace::prefetch(const kv_shape &shape, std::span<const kv_block> blocks) {
    if (!check(shape, blocks)) return;
    broken_ = guarded([&]() -> Result<> {
        plan(shape, blocks);
        fetch_ahead();
        return broken_;
    });
}

Result<> SourcePlace::begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    if (auto checked = check(shape, blocks); !checked) return checked;
    return guarded([&] { return begin_fetching(shape, query, blocks); });
}

Result<> SourcePlace::begin_fetching(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    if (!blocks_.empty()) abandon(); // the caller forgot to
    if (!is_planned(shape, blocks)) {
        ++traffic_.mispredicted;
        abandon();
    }
    forget_taken();
    const size_t known = std::min(plan_.size() - taken_, blocks.size());
    plan(shape, blocks.subspan(known));
    shape_ = shape, query_ = query, blocks_ = blocks;
    broken_ = {};
    fetch_ahead();
    return {};
}

void SourcePlace::forget_taken() noexcept {
    plan_.erase(plan_.begin(), plan_.begin() + static_cast<std::ptrdiff_t>(taken_));
    fetched_ -= taken_;
    for (uint32_t i = 0; i < used_; ++i) ring_[(first_ + i) % ring_.size()].end -= taken_;
    taken_ = 0;
}

// Fills what of the ring is free. What fails is reported by whoever needs the bytes.
void SourcePlace::fetch_ahead() {
    while (broken_ && used_ < ring_.size() && fetched_ < plan_.size()) {
        const uint32_t slot = (first_ + used_) % static_cast<uint32_t>(ring_.size());
        uint64_t at = slot * options_.window;
        const uint64_t end = at + options_.window;
        size_t piece = fetched_;
        fetches_.clear();
        for (; piece < plan_.size() && plan_[piece].fetched <= end - at; ++piece) {
            plan_[piece].at = at;
            fetches_.push_back({plan_[piece].from, plan_[piece].fetched, at});
            at += plan_[piece].fetched;
        }
        const auto ticket = source_->start(fetches_);
        if (!ticket) {
            broken_ = tl::unexpected(ticket.error());
            return;
        }
        ring_[slot] = {*ticket, piece, false};
        fetched_ = piece;
        ++used_, ++traffic_.windows;
        traffic_.bytes += at - slot * options_.window;
    }
}

// The window with the next piece is there.
Result<> SourcePlace::arrive() {
    if (used_ == 0) {
        if (broken_) return fail(Code::internal, "a block was asked for that was not planned");
        return broken_;
    }
    Window &window = ring_[first_];
    if (window.arrived) return {};
    window.arrived = true; // its ticket is spent, whatever comes of it
    auto waited = source_->wait(window.ticket);
    if (!waited) broken_ = waited;
    return waited;
}

void SourcePlace::finish_window() noexcept {
    first_ = (first_ + 1) % static_cast<uint32_t>(ring_.size()), --used_;
}

Result<> SourcePlace::next(uint32_t count, float *state, float *output) {
    return guarded([&] { return attend_next(count, state, output); });
}

Result<> SourcePlace::attend_next(uint32_t count, float *state, float *output) {
    if (count > blocks_.size()) return fail(Code::invalid, "more blocks were asked for than were named");
    const size_t states = size_t{shape_.query_heads} * 2, numbers = size_t{shape_.query_heads} * shape_.head_dim;
    while (count != 0) {
        if (auto there = arrive(); !there) return there;
        const size_t end = ring_[first_].end;
        local_.clear();
        for (; taken_ < end && local_.size() < count; ++taken_) {
            local_.push_back({plan_[taken_].place(), blocks_.front().tokens, 0});
            blocks_ = blocks_.subspan(1);
        }
        const auto done = static_cast<uint32_t>(local_.size());
        kernels::attention({reinterpret_cast<const uint8_t *>(memory_.bytes().data()), local_.data(), query_, state, output},
                           {options_.window * options_.windows, shape_, done, 0});
        state += done * states, output += done * numbers, count -= done;
        if (taken_ == end) {
            finish_window();
            fetch_ahead();
        }
    }
    return {};
}

void SourcePlace::abandon() noexcept {
    size_t piece = taken_;
    for (; used_ != 0; finish_window()) {
        Window &window = ring_[first_];
        if (!window.arrived) source_->discard(window.ticket);
        for (; piece < window.end; ++piece) traffic_.dropped += plan_[piece].fetched;
    }
    plan_.clear();
    taken_ = fetched_ = 0;
    blocks_ = {};
}

} // namespace hbf::kv
