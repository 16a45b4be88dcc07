// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/allocation.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "conformance/suite/whose_code.hpp"

#if defined(__has_feature)
#define HBF_HAS_FEATURE(x) __has_feature(x)
#else
#define HBF_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HBF_HAS_FEATURE(address_sanitizer) ||                  \
    HBF_HAS_FEATURE(thread_sanitizer) || HBF_HAS_FEATURE(memory_sanitizer) || !defined(__GLIBC__)
#define HBF_REPLACE_NEW 1
#else
#define HBF_REPLACE_NEW 0
#endif

namespace hbf::conformance {
namespace {

// Constant-initialized: malloc runs before any constructor does.
constinit std::atomic<uint64_t> watches{0}, all_made{0};
constinit std::atomic<int64_t> all_live{0};
constinit thread_local uint64_t made_by_thread = 0, fail_in = 0;
constinit thread_local bool fail_happened = false;

// False: this one must fail. `caller`: where whoever allocates goes on.
bool admit(void *caller) noexcept {
    if ((fail_in != 0 || watches.load(std::memory_order_relaxed) != 0) && called_by_driver(caller)) return true;
    ++made_by_thread;
    if (fail_in == 0) return true;
    --fail_in;
    if (fail_in != 0) return true;
    fail_happened = true;
    return false;
}

void *counted(void *block) noexcept {
    if (block && watches.load(std::memory_order_relaxed) != 0) {
        all_made.fetch_add(1, std::memory_order_relaxed);
        all_live.fetch_add(1, std::memory_order_relaxed);
    }
    return block;
}

void uncounted(const void *block) noexcept {
    if (block && watches.load(std::memory_order_relaxed) != 0) all_live.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace

AllocationWatch::AllocationWatch() {
    watches.fetch_add(1);
    made_ = all_made.load();
    here_ = made_by_thread;
    live_ = all_live.load();
}
AllocationWatch::~AllocationWatch() {
    watches.fetch_sub(1);
}
uint64_t AllocationWatch::made() const {
    return all_made.load() - made_;
}
uint64_t AllocationWatch::made_here() const {
    return made_by_thread - here_;
}
int64_t AllocationWatch::live() const {
    return all_live.load() - live_;
}

FailAllocation::FailAllocation(uint64_t nth) {
    fail_happened = false;
    fail_in = nth;
}
FailAllocation::~FailAllocation() {
    disarm();
}
bool FailAllocation::happened() const {
    return fail_happened;
}
void FailAllocation::disarm() {
    fail_in = 0;
}

#if HBF_REPLACE_NEW
namespace {

void *take(size_t size, size_t alignment, void *caller) noexcept {
    if (!admit(caller)) return nullptr;
    if (size == 0) size = 1;
    if (alignment <= alignof(std::max_align_t)) return counted(std::malloc(size));
    return counted(std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));
}
void *take_or_throw(size_t size, size_t alignment, void *caller) {
    if (void *block = take(size, alignment, caller)) return block;
    throw std::bad_alloc();
}
void give(void *block) noexcept {
    uncounted(block);
    std::free(block);
}

} // namespace
#endif

} // namespace hbf::conformance

#if HBF_REPLACE_NEW

// All forms, for a sanitizer has its own of each.
using hbf::conformance::give, hbf::conformance::take, hbf::conformance::take_or_throw;

#define HBF_CALLER __builtin_return_address(0)
// clang-format off
void *operator new(size_t n) { return take_or_throw(n, 0, HBF_CALLER); }
void *operator new[](size_t n) { return take_or_throw(n, 0, HBF_CALLER); }
void *operator new(size_t n, const std::nothrow_t &) noexcept { return take(n, 0, HBF_CALLER); }
void *operator new[](size_t n, const std::nothrow_t &) noexcept { return take(n, 0, HBF_CALLER); }
void *operator new(size_t n, std::align_val_t a) { return take_or_throw(n, static_cast<size_t>(a), HBF_CALLER); }
void *operator new[](size_t n, std::align_val_t a) { return take_or_throw(n, static_cast<size_t>(a), HBF_CALLER); }
void *operator new(size_t n, std::align_val_t a, const std::nothrow_t &) noexcept {
    return take(n, static_cast<size_t>(a), HBF_CALLER);
}
void *operator new[](size_t n, std::align_val_t a, const std::nothrow_t &) noexcept {
    return take(n, static_cast<size_t>(a), HBF_CALLER);
}
void operator delete(void *p) noexcept { give(p); }
void operator delete[](void *p) noexcept { give(p); }
void operator delete(void *p, size_t) noexcept { give(p); }
void operator delete[](void *p, size_t) noexcept { give(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { give(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { give(p); }
void operator delete(void *p, std::align_val_t) noexcept { give(p); }
void operator delete[](void *p, std::align_val_t) noexcept { give(p); }
void operator delete(void *p, size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void *p, size_t, std::align_val_t) noexcept { give(p); }
// clang-format on

#else

// What the C library calls itself by, for programs that have a malloc of their own.
extern "C" {
void *__libc_malloc(size_t size) noexcept;
void *__libc_calloc(size_t count, size_t size) noexcept;
void *__libc_realloc(void *block, size_t size) noexcept;
void *__libc_memalign(size_t alignment, size_t size) noexcept;
void __libc_free(void *block) noexcept;
}

using hbf::conformance::admit, hbf::conformance::counted, hbf::conformance::uncounted;

namespace {

void *refused() noexcept {
    errno = ENOMEM;
    return nullptr;
}

} // namespace

extern "C" {

void *malloc(size_t size) noexcept {
    return admit(__builtin_return_address(0)) ? counted(__libc_malloc(size)) : refused();
}
void *calloc(size_t count, size_t size) noexcept {
    return admit(__builtin_return_address(0)) ? counted(__libc_calloc(count, size)) : refused();
}
void *realloc(void *block, size_t size) noexcept {
    if (block && size == 0) {
        uncounted(block);
        return __libc_realloc(block, 0);
    }
    if (!admit(__builtin_return_address(0))) return refused();
    void *const moved = __libc_realloc(block, size);
    if (!moved) return nullptr;
    uncounted(block);
    return counted(moved);
}
void free(void *block) noexcept {
    uncounted(block);
    __libc_free(block);
}
void *memalign(size_t alignment, size_t size) noexcept {
    return admit(__builtin_return_address(0)) ? counted(__libc_memalign(alignment, size)) : refused();
}
void *aligned_alloc(size_t alignment, size_t size) noexcept {
    return admit(__builtin_return_address(0)) ? counted(__libc_memalign(alignment, size)) : refused();
}
int posix_memalign(void **out, size_t alignment, size_t size) noexcept {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    if (!admit(__builtin_return_address(0))) return ENOMEM;
    void *const block = counted(__libc_memalign(alignment, size));
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}
}

#endif
