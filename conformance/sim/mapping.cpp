// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/mapping.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::sim {
namespace {

std::byte *map(uint64_t size, int flags, int fd) {
    void *const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        sdk::fail(HBF_EXHAUSTED, fmt::format("no address space for {} bytes: {}", size, std::strerror(errno)));
    return static_cast<std::byte *>(at);
}

} // namespace

Mapping Mapping::zeroed(uint64_t size, uint64_t alignment) {
    constexpr uint64_t page = 4096; // the least that mmap aligns to
    const uint64_t room = alignment > page ? size + alignment : size;
    std::byte *const all = map(room, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    const uint64_t over = reinterpret_cast<uintptr_t>(all) % alignment;
    const uint64_t head = over && alignment > page ? alignment - over : 0;
    if (head) ::munmap(all, head);
    if (room - head > size) ::munmap(all + head + size, room - head - size);
    Mapping result;
    result.at_ = all + head;
    result.size_ = size;
    return result;
}

Mapping Mapping::of_file(int fd, uint64_t size) {
    Mapping result;
    result.at_ = map(size, MAP_SHARED, fd);
    result.size_ = size;
    return result;
}

Mapping Mapping::borrowed(void *at, uint64_t size) {
    Mapping result;
    result.at_ = static_cast<std::byte *>(at);
    result.size_ = size;
    result.owned_ = false;
    return result;
}

Mapping::~Mapping() {
    if (at_ && owned_) ::munmap(at_, size_);
}

} // namespace hbf::sim
