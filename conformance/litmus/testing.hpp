// SPDX-License-Identifier: Apache-2.0
// For tests: memory to run shapes on, and threads that spoil it.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "conformance/litmus/access.hpp"
#include "conformance/litmus/arena.hpp"
#include "conformance/measure/placement.hpp"

namespace hbf::litmus::testing {

class Memory {
public:
    explicit Memory(uint64_t size = 1 << 20) : size_(size), at_(static_cast<std::byte *>(std::aligned_alloc(4096, size))) {
        if (at_ == nullptr) throw std::bad_alloc();
        for (uint64_t word = 0; word < size; word += 8) *reinterpret_cast<uint64_t *>(at_ + word) = 0;
    }
    ~Memory() { std::free(at_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    std::span<std::byte> bytes() const { return {at_, size_}; }
    Arena arena() const { return {{bytes()}}; }

private:
    uint64_t size_;
    std::byte *at_;
};

inline bool two_cpus() {
    return measure::allowed_cpus().size() >= 2;
}

// A cache that nobody keeps coherent: it remembers words for a moment and writes them back over what was stored meanwhile.
class StaleWriter {
public:
    explicit StaleWriter(std::span<std::byte> memory) : thread_([this, memory] { work(memory); }) {}
    ~StaleWriter() {
        over_ = true;
        thread_.join();
    }

private:
    void work(std::span<std::byte> memory) {
        std::vector<Word> kept(memory.size() / 8);
        auto *const words = reinterpret_cast<Word *>(memory.data());
        while (!over_) {
            for (size_t i = 0; i < kept.size(); ++i) kept[i] = load_word<Order::relaxed>(words[i]);
            std::this_thread::yield();
            for (size_t i = 0; i < kept.size(); ++i) store_word<Order::relaxed>(words[i], kept[i]);
        }
    }
    std::atomic<bool> over_{false};
    std::thread thread_;
};

} // namespace hbf::litmus::testing
