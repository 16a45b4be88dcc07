// SPDX-License-Identifier: Apache-2.0
#include "counting_new.hpp"

#include <cstdlib>
#include <new>

namespace sdk_test {
std::atomic<long> allocations{0}, fail_at{0};
}

// The array forms too: a sanitizer has its own of each.
void *operator new(size_t size) {
    ++sdk_test::allocations;
    if (sdk_test::fail_at.load() > 0 && --sdk_test::fail_at == 0) throw std::bad_alloc();
    if (void *memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
void *operator new[](size_t size) {
    return operator new(size);
}
void operator delete(void *memory) noexcept {
    std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
    std::free(memory);
}
void operator delete[](void *memory) noexcept {
    std::free(memory);
}
void operator delete[](void *memory, size_t) noexcept {
    std::free(memory);
}
