// SPDX-License-Identifier: Apache-2.0
#include "channel.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace hbf::host {
namespace {

constexpr uint32_t bounce_count = 8;    // and one for merges
constexpr uint32_t most_retries = 1000; // of one piece in a row without a byte moved

using Clock = std::chrono::steady_clock;

bool worth_retrying(int32_t result) {
    return result == -EINTR || result == -EAGAIN || result == -ECANCELED; // cancelled: the thread that submitted it ended
}

} // namespace

Channel::Channel(std::unique_ptr<Engine> engine, uint32_t depth, const IoCalls &calls, const PieceLimits &limits)
    : calls_(calls), limits_(limits), bounces_(bounce_count + 1, limits.bounced), engine_(std::move(engine)),
      scratch_(bounces_.take()), operations_(depth), slots_(engine_->capacity()), unsent_(depth), finished_(depth),
      dones_(engine_->capacity()) {
    for (uint32_t i = depth; i-- > 0;) free_operations_.push_back(i);
    for (auto i = static_cast<uint32_t>(slots_.size()); i-- > 0;) free_slots_.push_back(i);
    engine_->add_buffer(bounces_.memory(), bounces_.bytes());
}

Channel::~Channel() {
    IoResult discarded[16];
    while (in_flight() > 0) reap(discarded, 1000000000);
}

void Channel::read(StorageFile &file, uint64_t offset, std::byte *dst, uint64_t size, uint64_t tag) {
    begin(file, {false, offset, size, dst}, tag);
}

void Channel::write(StorageFile &file, uint64_t offset, const std::byte *src, uint64_t size, uint64_t tag) {
    begin(file, {true, offset, size, const_cast<std::byte *>(src)}, tag); // a write only reads it
}

void Channel::begin(StorageFile &any_file, const Transfer &transfer, uint64_t tag) {
    if (!has_room()) sdk::fail(HBF_EXHAUSTED, fmt::format("{} storage transfers are under way already", operations_.size()));
    auto &file = static_cast<File &>(any_file); // there is no other kind
    const uint32_t index = free_operations_.back();
    free_operations_.pop_back();
    Operation &operation = operations_[index];
    operation = {};
    operation.file = &file;
    operation.transfer = transfer;
    operation.tag = tag;
    if (transfer.size > file.size() || transfer.offset > file.size() - transfer.size) {
        fail(operation, file.outside(transfer.offset, transfer.size));
        return settle(index);
    }
    if (transfer.write) file.look();
    if (file.lost_from() < transfer.offset + transfer.size) {
        fail(operation, file.missing_tail(transfer.offset));
        return settle(index);
    }
    operation.unsent = true;
    unsent_.push(index);
    pump();
}

void Channel::pump() {
    while (!unsent_.empty() && issue(unsent_.front())) {
    }
}

// Begins the next piece of the operation; false: not now, something must complete first.
bool Channel::issue(uint32_t index) {
    Operation &operation = operations_[index];
    if (operation.failed || operation.begun == operation.transfer.size) {
        unsent_.pop();
        operation.unsent = false;
        settle(index);
        return true;
    }
    if (free_slots_.empty()) return false;
    const Piece piece = next_piece(operation.transfer, operation.begun, operation.file->shape().alignment, limits_);
    uint32_t bounce = BouncePool::none;
    if (piece.path == Path::merged) {
        auto problem = operation.file->merge(calls_, piece.offset, piece.memory, piece.size, bounces_.at(scratch_));
        operation.begun += piece.size;
        if (problem) fail(operation, std::move(*problem));
        return true;
    }
    if (piece.path == Path::bounced) {
        bounce = bounces_.take();
        if (bounce == BouncePool::none) return false;
        if (operation.transfer.write) std::memcpy(bounces_.at(bounce), piece.memory, piece.size);
    }
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = {index, piece, bounce, 0, 0};
    operation.begun += piece.size;
    ++operation.pieces_out;
    push(slot);
    return true;
}

void Channel::push(uint32_t index) {
    const Slot &slot = slots_[index];
    const Operation &operation = operations_[slot.operation];
    std::byte *data = slot.bounce == BouncePool::none ? slot.piece.memory : bounces_.at(slot.bounce);
    engine_->push({operation.file->shape().fd, operation.transfer.write,
                   operation.file->shape().base + slot.piece.io_offset + slot.moved, data + slot.moved,
                   slot.piece.io_size - slot.moved, index});
}

void Channel::completed(const IoDone &done) {
    Slot &slot = slots_[done.id];
    Operation &operation = operations_[slot.operation];
    if (worth_retrying(done.result) && slot.retries++ < most_retries) return push(done.id);
    if (auto problem = short_of(slot, done.result)) {
        fail(operation, std::move(*problem));
        return finish_piece(done.id);
    }
    // A read needs its own bytes, not the rest of the block behind them.
    const Piece &piece = slot.piece;
    const uint64_t needed = operation.transfer.write ? piece.io_size : piece.offset + piece.size - piece.io_offset;
    if (slot.moved < needed) return push(done.id);
    if (slot.bounce != BouncePool::none && !operation.transfer.write)
        std::memcpy(piece.memory, bounces_.at(slot.bounce) + (piece.offset - piece.io_offset), piece.size);
    finish_piece(done.id);
}

// Takes the result into the slot; a problem if the rest cannot be had by asking again.
std::optional<IoProblem> Channel::short_of(Slot &slot, int32_t result) {
    Operation &operation = operations_[slot.operation];
    File &file = *operation.file;
    const bool write = operation.transfer.write;
    if (result < 0) return file.problem(write, std::max(slot.piece.offset, slot.piece.io_offset + slot.moved), -result);
    const Piece &piece = slot.piece;
    const uint32_t unit = file.shape().alignment.offset, moved = static_cast<uint32_t>(result);
    const uint64_t reached = piece.io_offset + slot.moved + moved;
    slot.retries = 0;
    if (reached >= (write ? piece.io_offset + piece.io_size : piece.offset + piece.size)) {
        slot.moved += moved;
        return std::nullopt;
    }
    // Asking goes on from a whole block. Less than one is the end of the file, or a device that takes no more.
    if (moved < unit) return file.came_to_nothing(write, std::max(piece.offset, reached));
    slot.moved += moved / unit * unit;
    return std::nullopt;
}

void Channel::finish_piece(uint32_t index) {
    Slot &slot = slots_[index];
    if (slot.bounce != BouncePool::none) bounces_.give(slot.bounce);
    free_slots_.push_back(index);
    --operations_[slot.operation].pieces_out;
    settle(slot.operation);
}

void Channel::fail(Operation &operation, IoProblem &&problem) {
    if (operation.failed && operation.problem.offset <= problem.offset) return;
    operation.failed = true;
    operation.problem = std::move(problem);
}

void Channel::settle(uint32_t index) {
    if (!operations_[index].unsent && operations_[index].pieces_out == 0) finished_.push(index);
}

void Channel::kick() {
    pump();
    engine_->flush();
}

void Channel::collect(uint64_t timeout_ns) {
    const size_t count = engine_->reap(dones_, timeout_ns);
    for (size_t i = 0; i < count; ++i) completed(dones_[i]);
    if (count > 0) kick();
}

size_t Channel::hand_out(std::span<IoResult> out) {
    size_t count = 0;
    const File *looked_at = nullptr; // one look serves all reads of a file that have ended before it
    while (count < out.size() && !finished_.empty()) {
        const uint32_t index = finished_.pop();
        Operation &operation = operations_[index];
        // A file that was truncated and has grown again reads as zeros, and the kernel sees nothing wrong with that.
        if (const Transfer &transfer = operation.transfer; !transfer.write && !operation.failed) {
            if (std::exchange(looked_at, operation.file) != operation.file) operation.file->look();
            if (operation.file->lost_from() < transfer.offset + transfer.size)
                fail(operation, operation.file->missing_tail(transfer.offset));
        }
        IoResult &result = out[count++];
        result.tag = operation.tag;
        result.status = operation.failed ? operation.problem.status : HBF_OK;
        result.offset = operation.failed ? operation.problem.offset : HBF_NO_PLACE;
        result.message = std::move(operation.problem.message);
        operation.problem.message.clear();
        free_operations_.push_back(index);
    }
    return count;
}

size_t Channel::reap(std::span<IoResult> out, uint64_t timeout_ns) {
    kick();
    collect(0);
    const auto start = Clock::now();
    while (finished_.empty() && in_flight() > 0) {
        const auto passed = static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
        if (passed >= timeout_ns) break;
        collect(timeout_ns - passed);
    }
    return hand_out(out);
}

} // namespace hbf::host
