// SPDX-License-Identifier: Apache-2.0
// Memory for tables that are looked into here and there: from about 2 MiB on it is asked for in pages of that size, or half
// of a lookup would be the search for its page. Where the kernel gives none it is memory as any other.
//
// Mapped afresh each time: what the heap gives may have been touched before, and then it stays in small pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace hbf::kv::placement {

inline constexpr size_t large_page = size_t{2} << 20;

// What is mapped for so many bytes: a last page that would be nearly full is made whole. 0: not worth it, from the heap.
constexpr size_t large_mapping(size_t bytes) noexcept {
    constexpr size_t nearly = large_page / 16;
    const size_t past = bytes % large_page, whole = bytes + (past == 0 ? 0 : large_page - past);
    if (bytes + nearly < large_page) return 0;
    return whole - bytes <= nearly ? whole : bytes;
}

enum class Pages { large, small_until_joined };

// `size` bytes that begin on a large page; nullptr: there is no memory.
inline void *map_large_pages(size_t size, Pages pages = Pages::large) noexcept {
    constexpr size_t small_page = 4096;
    const size_t length = (size + small_page - 1) / small_page * small_page, all = length + large_page;
    if (all < size) return nullptr;
    void *const mapped = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<uintptr_t>(mapped), aligned = (begin + large_page - 1) / large_page * large_page;
    if (aligned != begin) (void)::munmap(mapped, aligned - begin);
    auto *const memory = static_cast<char *>(mapped) + (aligned - begin);
    if (const size_t behind = begin + all - aligned - length) (void)::munmap(memory + length, behind);
    (void)::madvise(memory, length, pages == Pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return memory;
}

// Of a large page's worth that was filled bit by bit, in small pages: one large one, now or, where the kernel is older than
// 6.1, when it comes round to it.
inline void join_pages(void *memory) noexcept {
    constexpr int madv_collapse = 25; // not in older headers
    (void)::madvise(memory, large_page, MADV_HUGEPAGE);
    (void)::madvise(memory, large_page, madv_collapse);
}

// For containers whose elements need no more alignment than new gives.
template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class Other>
    explicit LargePages(const LargePages<Other> &) noexcept {}

    T *allocate(size_t count) {
        if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
        const size_t mapping = large_mapping(count * sizeof(T));
        if (mapping == 0) return static_cast<T *>(::operator new(count * sizeof(T)));
        void *const memory = map_large_pages(mapping);
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, size_t count) noexcept {
        if (const size_t mapping = large_mapping(count * sizeof(T)))
            (void)::munmap(memory, mapping);
        else
            ::operator delete(memory);
    }
    bool operator==(const LargePages &) const = default;
};

} // namespace hbf::kv::placement
