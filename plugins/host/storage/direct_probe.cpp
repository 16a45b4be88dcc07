// SPDX-License-Identifier: Apache-2.0
#include "direct_probe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io_calls.hpp"

namespace hbf::host {

int64_t resident_pages(int fd, uint64_t size) {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return -1;
    std::vector<unsigned char> pages((size + page - 1) / page);
    int failed = ::mincore(mapped, size, pages.data());
    ::munmap(mapped, size);
    if (failed) return -1;
    return std::count_if(pages.begin(), pages.end(), [](unsigned char state) { return state & 1; });
}

DirectProbe probe_direct(int fd) {
    constexpr uint64_t size = 65536;
    if (::ftruncate(fd, size) != 0) return {{}, fmt::format("O_DIRECT could not be tried: {}", std::strerror(errno))};
    auto alignment = direct_alignment(fd);
    if (!alignment) return {{}, "O_DIRECT is refused by the file system"};
    if (alignment->offset > size || alignment->memory > size)
        return {{}, fmt::format("O_DIRECT wants an alignment of {} B", std::max(alignment->offset, alignment->memory))};
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(size, size), &std::free);
    if (!memory) return {{}, "no memory to try O_DIRECT"};
    std::memset(memory.get(), 0x5a, size);
    IoOutcome written = write_fully(system_io, fd, static_cast<std::byte *>(memory.get()), size, 0);
    if (written.error == ENOSPC || written.error == EDQUOT) return {*alignment, ""}; // full: by the kernel's word alone
    if (written.error) return {{}, fmt::format("O_DIRECT writes fail: {}", std::strerror(written.error))};
    if (resident_pages(fd, size) > 0) return {{}, "O_DIRECT is taken, but what is written stays in the page cache"};
    return {*alignment, ""};
}

} // namespace hbf::host
