// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/storage/file_lane.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hbf::nvidia {
namespace {

constexpr uint64_t bounce_size = 1 << 20; // a multiple of every pattern
// "The maximum I/O size": what the kernel moves in one call, and less.
constexpr uint64_t most = 1 << 30;

} // namespace

FileLane::FileLane(const Context &context, FileStore &store)
    : cuda_(context.cuda), store_(store), bounce_(context, bounce_size, FileStore::granule) {}

int FileLane::put(cufile::Move how, uint64_t in_file, uint64_t memory, uint64_t size, cuda::Stream stream) noexcept {
    for (uint64_t done = 0; done < size; done += most) {
        if (!free_) {
            try {
                free_ = &all_.emplace_back();
            } catch (...) {
                return cuda::out_of_memory;
            }
        }
        Move *const move = free_, *const rest = move->next;
        *move = {std::min(most, size - done), static_cast<off_t>(in_file + done), 0, 0, pending_};
        // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of the device are numbers
        const cufile::Error error = how(store_.handle(), reinterpret_cast<void *>(memory + done), &move->size,
                                        &move->in_file, &move->in_memory, &move->done, stream);
        if (error.code != 0) {
            move->next = rest;
            return error.cuda != 0 ? error.cuda : refused;
        }
        free_ = rest;
        pending_ = move;
    }
    return cuda::success;
}

int FileLane::copy(const stream::Copy &copy, cuda::Stream stream) noexcept {
    if (!copy.to->file) return put(store_.cufile.ReadAsync, copy.src, copy.dst, copy.size, stream);
    if (!copy.from->file) return put(store_.cufile.WriteAsync, copy.dst, copy.src, copy.size, stream);
    int code = cuda::success;
    for (uint64_t done = 0; done < copy.size && code == cuda::success; done += bounce_size) {
        const uint64_t piece = std::min(bounce_size, copy.size - done);
        code = put(store_.cufile.ReadAsync, copy.src + done, bounce_.at(), piece, stream);
        if (code == cuda::success) code = put(store_.cufile.WriteAsync, copy.dst + done, bounce_.at(), piece, stream);
    }
    return code;
}

int FileLane::fill(const stream::Fill &fill, cuda::Stream stream) noexcept {
    const uint64_t size = fill.count * fill.width, piece = std::min(size, bounce_size);
    uint64_t pattern = fill.value;
    for (uint32_t width = fill.width; width < 8; width *= 2) {
        const unsigned bits = width * 8;
        pattern = (pattern & ((uint64_t{1} << bits) - 1)) | pattern << bits;
    }
    // In halves of 8 bytes, then what is there is doubled.
    int code = cuda_.MemsetD32Async(bounce_.at(), static_cast<unsigned>(pattern), 1, stream);
    if (code == cuda::success)
        code = cuda_.MemsetD32Async(bounce_.at() + 4, static_cast<unsigned>(pattern >> 32), 1, stream);
    for (uint64_t done = 8; code == cuda::success && done < piece; done *= 2)
        code = cuda_.MemcpyAsync(bounce_.at() + done, bounce_.at(), std::min(done, bounce_size - done), stream);
    for (uint64_t done = 0; code == cuda::success && done < size; done += bounce_size)
        code = put(store_.cufile.WriteAsync, fill.dst + done, bounce_.at(), std::min(bounce_size, size - done), stream);
    return code;
}

// What the event stood for before has been looked at.
void FileLane::record(cuda::Event event) noexcept {
    Move *&moves = batches_.at(event);
    while (moves) {
        Move *const next = std::exchange(moves->next, free_);
        free_ = std::exchange(moves, next);
    }
    moves = std::exchange(pending_, nullptr);
}

int FileLane::worst(const Move *moves) noexcept {
    for (const Move *move = moves; move; move = move->next) {
        if (move->done == static_cast<ssize_t>(move->size)) continue;
        if (move->done >= 0) return short_move;
        return move->done == -1 ? system_error : library_error + static_cast<int>(std::min<ssize_t>(-move->done, 1'000'000));
    }
    return 0;
}

sdk::Failure FileLane::explain(int code) {
    const char *const remedy = "; remedy: look at dmesg and cufile.log, and at the room on the disk";
    if (code == refused) return {HBF_UNAVAILABLE, fmt::format("cuFile takes no more reads and writes{}", remedy)};
    const std::string how = code == short_move     ? "moved fewer bytes than asked for"
                            : code == system_error ? "met an error of the system's"
                                                   : fmt::format("gives {}", code - library_error);
    return {HBF_DATA_LOSS, fmt::format("storage by cuFile: it {}{}", how, remedy)};
}

} // namespace hbf::nvidia
