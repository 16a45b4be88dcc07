// SPDX-License-Identifier: Apache-2.0
// How often each exported function of an emulated library was called, told at the end of the process to the file that
// HBF_EMULATE_COUNTS names: so a plugin's reliance on what is not emulated shows, and the calls that a batch costs. Lines of
// "LIBRARY FUNCTION called|unsupported COUNT", appended, none for a function that nobody called.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hbf::emulated {

// One for each library, at namespace scope or as a function's static.
class Calls {
public:
    // `names`: first the `supported` ones. What they point to outlives this.
    Calls(const char *library, std::span<const char *const> names, size_t supported);
    ~Calls();
    Calls(const Calls &) = delete;
    Calls &operator=(const Calls &) = delete;

    // [any-thread, also after exit began]
    void count(size_t function) noexcept { counts_[function].fetch_add(1, std::memory_order_relaxed); }
    uint64_t counted(size_t function) const noexcept { return counts_[function].load(std::memory_order_relaxed); }
    std::string text() const;

private:
    const char *const library_;
    const std::span<const char *const> names_;
    const size_t supported_;
    std::atomic<uint64_t> *const counts_; // never given back: a thread may call until the process is gone
};

} // namespace hbf::emulated
