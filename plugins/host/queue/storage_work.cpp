// SPDX-License-Identifier: Apache-2.0
#include "storage_work.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "copy_policy.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::host {

void StorageWork::FreeAligned::operator()(std::byte *memory) const noexcept {
    std::free(memory);
}

StorageWork::StorageWork(StorageTier &storage) : channel_(storage.create_channel(operations)), results_(operations) {
    for (Buffer &buffer : buffers_) {
        buffer.reset(static_cast<std::byte *>(std::aligned_alloc(4096, storage_turn_size)));
        if (!buffer) throw std::bad_alloc();
    }
}

void StorageWork::checksum(const Command &command, uint64_t from, const std::byte *bytes, uint64_t size) {
    uint32_t *crc = command.crc + from / HBF_CRC_PIECE;
    for (uint64_t at = 0; at < size; at += HBF_CRC_PIECE)
        *crc++ = kernels::crc32c(bytes + at, std::min<uint64_t>(HBF_CRC_PIECE, size - at));
}

bool StorageWork::begin(Slot &slot, const Command &command, uint64_t &begun) {
    if (!command.moves_data()) return true; // flush, invalidate: what storage has taken is there for every later reader
    while (begun < command.size) {
        const uint64_t size = std::min(storage_turn_size, command.size - begun);
        if (!begin_one(slot, command, begun, size)) return false;
        begun += size;
    }
    return true;
}

bool StorageWork::begin_one(Slot &slot, const Command &command, uint64_t from, uint64_t size) {
    if (live_ == operations || !channel_->has_room()) return false;
    const bool bounce = !command.dst.memory && !command.src.memory;
    const auto buffer = std::find(taken_.begin(), taken_.end(), false) - taken_.begin();
    if (bounce && buffer == static_cast<ptrdiff_t>(taken_.size())) return false;
    const auto free = std::find_if(operations_.begin(), operations_.end(), [](auto &o) { return o.stage == Stage::free; });
    const auto tag = static_cast<uint64_t>(free - operations_.begin());
    const uint64_t dst_offset = command.dst.offset + from, src_offset = command.src.offset + from;
    Operation made{Stage::free, &slot, &command, from, size, -1};
    if (bounce) {
        made.buffer = static_cast<int>(buffer);
        std::byte *const bytes = buffers_[static_cast<size_t>(buffer)].get();
        if (command.kind == HBF_COMMAND_FILL) {
            kernels::fill(bytes, size, command.pattern, command.pattern_size, kernels::Stores::regular);
            channel_->write(*command.dst.file, dst_offset, bytes, size, tag);
            made.stage = Stage::bounce_write;
        } else {
            channel_->read(*command.src.file, src_offset, bytes, size, tag);
            made.stage = Stage::bounce_read;
        }
        taken_[static_cast<size_t>(buffer)] = true;
    } else if (command.dst.memory) {
        channel_->read(*command.src.file, src_offset, command.dst.memory + from, size, tag);
        made.stage = Stage::read;
    } else {
        if (command.crc) checksum(command, from, command.src.memory + from, size);
        channel_->write(*command.dst.file, dst_offset, command.src.memory + from, size, tag);
        made.stage = Stage::write;
    }
    *free = made;
    ++live_, ++slot.pending;
    begun_ = true;
    return true;
}

bool StorageWork::conflicts(const Slot &slot, const Command &command) const {
    if (live_ == 0) return false;
    for (const Operation &operation : operations_) {
        if (operation.stage == Stage::free || operation.slot == &slot) continue;
        Place dst = operation.command->dst, src = operation.command->src;
        for (Place *place : {&dst, &src}) {
            place->offset += operation.from;
            if (place->memory) place->memory += operation.from;
        }
        if (overlap(command.dst, command.size, dst, operation.size) ||
            overlap(command.dst, command.size, src, operation.size) ||
            overlap(command.src, command.size, dst, operation.size))
            return true;
    }
    return false;
}

void StorageWork::kick() {
    if (full_ != 0) write_full();
    if (std::exchange(begun_, false)) channel_->kick();
}

// Bounce buffers that were read and found no room at once.
void StorageWork::write_full() {
    for (Operation &operation : operations_) {
        if (operation.stage != Stage::bounce_full || !channel_->has_room()) continue;
        const Command &command = *operation.command;
        const auto tag = static_cast<uint64_t>(&operation - operations_.data());
        --full_;
        operation.stage = Stage::bounce_write;
        channel_->write(*command.dst.file, command.dst.offset + operation.from,
                        buffers_[static_cast<size_t>(operation.buffer)].get(), operation.size, tag);
        begun_ = true;
    }
}

bool StorageWork::collect(uint64_t timeout_ns) {
    if (live_ == 0) return false;
    const size_t count = channel_->reap(results_, timeout_ns);
    for (size_t i = 0; i < count; ++i)
        if (results_[i].tag < operations_.size()) finished(operations_[results_[i].tag], results_[i]);
    return count != 0;
}

void StorageWork::finished(Operation &operation, IoResult &result) {
    Slot &slot = *operation.slot;
    const Command &command = *operation.command;
    if (result.status != HBF_OK) {
        const bool reading = operation.stage == Stage::read || operation.stage == Stage::bounce_read;
        const Place &place = reading ? command.src : command.dst;
        const uint64_t offset = result.offset != HBF_NO_PLACE ? result.offset : place.offset + operation.from;
        slot.fail(result.status, std::move(result.message), place.region, offset);
        result.message.clear();
    } else if (command.crc && operation.stage == Stage::read) {
        checksum(command, operation.from, command.dst.memory + operation.from, operation.size);
    } else if (operation.stage == Stage::bounce_read && !slot.failure) {
        if (command.crc)
            checksum(command, operation.from, buffers_[static_cast<size_t>(operation.buffer)].get(), operation.size);
        operation.stage = Stage::bounce_full;
        ++full_;
        return;
    }
    release(operation);
}

void StorageWork::release(Operation &operation) {
    if (operation.buffer >= 0) taken_[static_cast<size_t>(operation.buffer)] = false;
    --operation.slot->pending, --live_;
    operation.stage = Stage::free;
}

} // namespace hbf::host
