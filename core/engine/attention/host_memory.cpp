// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

namespace hbf::kv {

Result<HostMemory> HostMemory::take(size_t size) {
    void *const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fail(Code::exhausted, fmt::format("there are no {} bytes of memory", size));
    (void)::madvise(memory, size, MADV_HUGEPAGE); // blocks are read here and there
    HostMemory taken;
    taken.bytes_ = {static_cast<std::byte *>(memory), size};
    return taken;
}

HostMemory::~HostMemory() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

} // namespace hbf::kv
