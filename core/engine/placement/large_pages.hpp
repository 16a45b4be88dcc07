// SPDX-License-Identifier: Apache-2.0
// Memory for tables that are looked into here and there: from 2 MiB on it is asked for in pages of that size, or half of a
// lookup would be the search for its page. Where the kernel gives none it is memory as any other.
#pragma once

#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace hbf::kv::placement {

inline constexpr size_t large_page = size_t{2} << 20;

// For containers whose elements need no more alignment than new gives.
template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class Other>
    explicit LargePages(const LargePages<Other> &) noexcept {}

    T *allocate(size_t count) {
        const size_t bytes = count * sizeof(T);
        if (bytes < large_page) return static_cast<T *>(::operator new(bytes));
        void *const memory = ::operator new(bytes, std::align_val_t{large_page});
        (void)::madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, size_t count) noexcept {
        if (count * sizeof(T) < large_page)
            ::operator delete(memory);
        else
            ::operator delete(memory, std::align_val_t{large_page});
    }
    bool operator==(const LargePages &) const = default;
};

} // namespace hbf::kv::placement
