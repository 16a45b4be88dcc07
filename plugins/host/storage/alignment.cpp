// SPDX-License-Identifier: Apache-2.0
#include "alignment.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hbf::host {
namespace {

std::optional<Alignment> ask_kernel([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
    struct statx answer{};
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &answer) != 0 || !(answer.stx_mask & STATX_DIOALIGN))
        return std::nullopt;
    if (answer.stx_dio_mem_align == 0 || answer.stx_dio_offset_align == 0) return std::nullopt; // refused, or untold: try
    return Alignment{answer.stx_dio_mem_align, answer.stx_dio_offset_align};
#else
    return std::nullopt;
#endif
}

} // namespace

std::optional<Alignment> direct_alignment(int fd) {
    if (auto told = ask_kernel(fd)) return told;
    constexpr size_t largest = 65536;
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(largest, 2 * largest), &std::free);
    if (!memory) return std::nullopt;
    // One read at an odd multiple of the candidate, in file and memory at once.
    for (size_t candidate = 512; candidate < largest; candidate *= 2) {
        ssize_t got;
        do {
            got = ::pread(fd, static_cast<char *>(memory.get()) + candidate, candidate, static_cast<off_t>(candidate));
        } while (got < 0 && errno == EINTR);
        if (got >= 0) return Alignment{static_cast<uint32_t>(candidate), static_cast<uint32_t>(candidate)};
        if (errno != EINVAL) return std::nullopt;
    }
    return std::nullopt;
}

} // namespace hbf::host
