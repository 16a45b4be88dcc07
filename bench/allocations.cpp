// SPDX-License-Identifier: Apache-2.0
// Stands before glibc's allocator for the whole process: an executable's symbols come first, for plugins too.
#include "bench/allocations.hpp"

#include <atomic>
#include <cstddef>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {
std::atomic<uint64_t> calls{0};
thread_local uint64_t calls_here = 0; // of a program: no allocation is needed to have it

void note() {
    calls.fetch_add(1, std::memory_order_relaxed);
    ++calls_here;
}
} // namespace

namespace hbf::bench {
uint64_t allocations() noexcept {
    return calls.load(std::memory_order_relaxed);
}
uint64_t allocations_of_thread() noexcept {
    return calls_here;
}
} // namespace hbf::bench

extern "C" {
void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
    note();
    *out = __libc_memalign(alignment, size);
    return *out == nullptr ? 12 /* ENOMEM */ : 0;
}
}
