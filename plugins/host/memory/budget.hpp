// SPDX-License-Identifier: Apache-2.0
// What a tier may still hand out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace hbf::host {

class Budget {
public:
    explicit Budget(uint64_t capacity) : capacity_(capacity) {}
    uint64_t capacity() const { return capacity_; }
    uint64_t left() const { return capacity_ - used_.load(std::memory_order_relaxed); }

    bool take(uint64_t bytes) {
        uint64_t used = used_.load(std::memory_order_relaxed);
        do {
            if (bytes > capacity_ - used) return false;
        } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
        return true;
    }
    void give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    const uint64_t capacity_;
    std::atomic<uint64_t> used_{0};
};

// Bytes taken for as long as the object lives, unless kept.
class Charge {
public:
    Charge(Budget &budget, uint64_t bytes)
        : budget_(budget), bytes_(budget.take(bytes) ? bytes : 0), taken_(bytes_ == bytes) {}
    ~Charge() { budget_.give(bytes_); }
    Charge(const Charge &) = delete;
    Charge &operator=(const Charge &) = delete;
    bool taken() const { return taken_; }
    void keep() { bytes_ = 0; }

private:
    Budget &budget_;
    uint64_t bytes_;
    bool taken_;
};

} // namespace hbf::host
