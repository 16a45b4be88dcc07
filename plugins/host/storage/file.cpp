// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "io_error.hpp"

namespace hbf::host {
namespace {

void lower(std::atomic<uint64_t> &value, uint64_t to) noexcept {
    uint64_t old = value.load(std::memory_order_relaxed);
    while (to < old && !value.compare_exchange_weak(old, to, std::memory_order_release)) {
    }
}

template <class... Values>
std::string words(fmt::format_string<const Values &...> text, const Values &...values) noexcept {
    try {
        return fmt::format(text, values...);
    } catch (...) {
        return "(out of memory)"; // short enough to need none
    }
}

} // namespace

void File::look() noexcept {
    if (uint64_t held = bytes_held(); held < shape_.stored) lower(lost_from_, held);
}

IoProblem File::came_to_nothing(bool write, uint64_t offset) noexcept {
    look();
    if (write && lost_from() == UINT64_MAX)
        return {HBF_DATA_LOSS, offset,
                words("write of {} stopped at byte {}: the device took no more", shape_.label, offset)};
    if (!write) lower(lost_from_, offset);
    return missing_tail(offset);
}

IoProblem File::missing_tail(uint64_t offset) const noexcept {
    const uint64_t from = lost_from();
    return {HBF_DATA_LOSS, std::max(offset, from),
            words("{} holds {} of {} bytes: it was truncated after it was made", shape_.label, from, shape_.stored)};
}

IoProblem File::problem(bool write, uint64_t offset, int error) const noexcept {
    return {status_of_errno(error), offset,
            words("{} of {} at byte {} failed: {}", std::string_view(write ? "write" : "read"), shape_.label, offset,
                  std::string_view(std::strerror(error)))};
}

IoProblem File::outside(uint64_t offset, uint64_t size) const noexcept {
    return {HBF_INVALID, offset,
            words("{} bytes from byte {} are not all in {}, which has {}", size, offset, shape_.label, shape_.size)};
}

std::optional<IoProblem> File::merge(const IoCalls &calls, uint64_t offset, const std::byte *data, uint64_t size,
                                     std::byte *scratch) noexcept {
    const uint64_t unit = shape_.alignment.offset, block = offset / unit * unit;
    std::lock_guard lock(merging_);
    IoOutcome read = read_fully(calls, shape_.fd, scratch, unit, shape_.base + block);
    if (read.error) return problem(false, block + read.moved, read.error);
    if (read.moved < unit) return came_to_nothing(false, std::max(offset, block + read.moved));
    std::memcpy(scratch + (offset - block), data, size);
    IoOutcome written = write_fully(calls, shape_.fd, scratch, unit, shape_.base + block);
    if (written.error) return problem(true, block + written.moved, written.error);
    if (written.moved < unit) return came_to_nothing(true, std::max(offset, block + written.moved));
    return std::nullopt;
}

} // namespace hbf::host
