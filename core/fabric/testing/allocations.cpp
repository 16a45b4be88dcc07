// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t made = 0, countdown = 0;
thread_local bool struck = false;

void *make(size_t size, size_t alignment) noexcept {
    ++made;
    if (countdown != 0 && --countdown == 0) {
        struck = true;
        return nullptr;
    }
    if (size == 0) size = 1;
    return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
               ? std::malloc(size)
               : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void *must_make(size_t size, size_t alignment) {
    if (void *memory = make(size, alignment)) return memory;
    throw std::bad_alloc();
}

} // namespace

namespace hbf::testing {

uint64_t allocations() noexcept {
    return made;
}
void fail_allocation(uint64_t nth) noexcept {
    countdown = nth;
    struck = false;
}
bool allocation_failed() noexcept {
    return struck;
}

} // namespace hbf::testing

void *operator new(size_t size) {
    return must_make(size, 1);
}
void *operator new[](size_t size) {
    return must_make(size, 1);
}
void *operator new(size_t size, std::align_val_t alignment) {
    return must_make(size, static_cast<size_t>(alignment));
}
void *operator new[](size_t size, std::align_val_t alignment) {
    return must_make(size, static_cast<size_t>(alignment));
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
    return make(size, 1);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
    return make(size, 1);
}
void operator delete(void *memory) noexcept {
    std::free(memory);
}
void operator delete[](void *memory) noexcept {
    std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, size_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void *memory, const std::nothrow_t &) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, const std::nothrow_t &) noexcept {
    std::free(memory);
}
