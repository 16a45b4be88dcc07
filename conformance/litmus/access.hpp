// SPDX-License-Identifier: Apache-2.0
// The accesses that shapes are made of. All are atomic, so that what a weak one shows is the machine's doing and not the
// compiler's, and a thread sanitizer has nothing to report; the streaming store is an instruction of its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace hbf::litmus {

using Word = uint64_t;

enum class Order : uint8_t {
    relaxed,
    acquire,
    release,
    seq_cst,
    streaming, // a store past the caches, ordered by nothing (x86: movnti); elsewhere a relaxed store
};

// What this architecture's stores do beyond C++: which mutants can be seen at all.
#if defined(__x86_64__)
inline constexpr bool total_store_order = true;
#else
inline constexpr bool total_store_order = false;
#endif
// qemu and other emulations run Arm code with the order of the machine below.

template <Order O>
constexpr std::memory_order order_of() {
    if constexpr (O == Order::acquire) return std::memory_order_acquire;
    if constexpr (O == Order::release) return std::memory_order_release;
    if constexpr (O == Order::seq_cst) return std::memory_order_seq_cst;
    return std::memory_order_relaxed;
}

template <Order O>
inline Word load_word(Word &word) {
    return std::atomic_ref<Word>(word).load(order_of<O>());
}

template <Order O>
inline void store_word(Word &word, Word value) {
#if defined(__x86_64__)
    if constexpr (O == Order::streaming) {
        asm volatile("movnti %1, %0" : "=m"(word) : "r"(value));
        return;
    }
#endif
    std::atomic_ref<Word>(word).store(value, order_of<O>());
}

// seq_cst, or streaming: what orders streaming stores before later ones. (As instructions: a thread sanitizer knows no
// fences.) acquire and release fences are not needed by any shape.
template <Order O>
inline void fence_words() {
    static_assert(O == Order::seq_cst || O == Order::streaming);
#if defined(__x86_64__)
    if constexpr (O == Order::streaming)
        asm volatile("sfence" ::: "memory");
    else
        asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("dmb ish" ::: "memory");
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void delay(uint32_t turns) {
    for (; turns != 0; --turns) asm volatile("");
}

inline void relax() {
#if defined(__x86_64__)
    asm volatile("pause");
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Writes the line back and drops it from every cache. Nothing where user programs cannot.
inline void flush_line(const void *address) {
#if defined(__x86_64__)
    asm volatile("clflush (%0)" ::"r"(address) : "memory");
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" ::"r"(address) : "memory");
#else
    (void)address;
#endif
}

} // namespace hbf::litmus
