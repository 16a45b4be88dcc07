// SPDX-License-Identifier: Apache-2.0
#include "memory/address_range.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "hbf/sdk/failure.hpp"
#include "machine.hpp"

namespace hbf::host {
namespace {

[[noreturn]] void no_address_space(uint64_t size, int error) {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const auto maps = read_number("/proc/sys/vm/max_map_count");
    sdk::fail(HBF_EXHAUSTED,
              fmt::format("the kernel refuses {} bytes of address space: {} (ulimit -v: {}, vm.max_map_count: {}, "
                          "vm.overcommit_memory: {})",
                          size, std::strerror(error),
                          limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{} bytes", limit.rlim_cur),
                          maps ? std::to_string(*maps) : "unknown",
                          read_line("/proc/sys/vm/overcommit_memory").value_or("unknown")));
}

[[noreturn]] void no_pool_pages(uint64_t size, const PageKind &kind, int error) {
    const std::string folder = fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB", kind.page >> 10);
    const auto number = [&folder](const char *file) {
        const auto value = read_number(folder + "/" + file);
        return value ? std::to_string(*value) : "unknown";
    };
    sdk::fail(HBF_UNAVAILABLE,
              fmt::format("{} pages of {} needed, {} of {} free ({}): echo N > {}/nr_hugepages sets N aside",
                          size / kind.page, name_of(kind.asked), number("free_hugepages"), number("nr_hugepages"),
                          std::strerror(error), folder));
}

// Half of the address space that a process has on every machine this runs on.
constexpr uint64_t largest_alignment = uint64_t{1} << 46;

} // namespace

AddressRange::AddressRange(uint64_t size, uint64_t alignment, const PageKind &kind) : size_(size) {
    const uint64_t align = std::max(alignment, kind.page), guard = base_page_size();
    if (align > largest_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("no address of a process is aligned to {} bytes: at most {}", alignment, largest_alignment));
    uint64_t whole = 0;
    if (__builtin_add_overflow(size, align, &whole) || __builtin_add_overflow(whole, guard, &whole))
        no_address_space(size, ENOMEM);

    void *reserved = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) no_address_space(whole, errno);
    auto *begin = static_cast<std::byte *>(reserved);
    const auto at = reinterpret_cast<uintptr_t>(begin);
    auto *body = begin + ((at + align - 1) / align * align - at);
    if (body > begin) munmap(begin, static_cast<size_t>(body - begin));
    std::byte *end = body + size + guard;
    if (end < begin + whole) munmap(end, static_cast<size_t>(begin + whole - end));

    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | kind.map_flags;
    if (mmap(body, size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
        const int error = errno;
        munmap(body, size + guard);
        if (kind.reserved_pool()) no_pool_pages(size, kind, error);
        no_address_space(size, error);
    }
    body_ = body;
    // Kernels without transparent huge pages refuse the advice, and have nothing to be advised on.
    if (kind.advice >= 0) madvise(body, size, kind.advice);
    // A child must not share these pages: after a fork, copy on write would move the parent's pages away from their node
    // and from buffers that the kernel has pinned, and would double what is counted as used.
    madvise(body, size, MADV_DONTFORK);
}

AddressRange::~AddressRange() {
    if (body_) munmap(body_, size_ + base_page_size());
}

} // namespace hbf::host
