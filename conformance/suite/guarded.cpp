// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/guarded.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

namespace hbf::conformance {
namespace {

constexpr uint64_t untouched = UINT64_MAX;

// Read by the signal handler: nothing but atomics.
struct Guard {
    std::atomic<uintptr_t> page{0}; // 0: free
    std::atomic<uint64_t> first{untouched};
};
std::array<Guard, 64> guards;
size_t page_size = 0;
struct sigaction former_segv, former_bus;

void on_fault(int number, siginfo_t *info, void *) {
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    for (Guard &guard : guards) {
        const uintptr_t page = guard.page.load();
        if (page == 0 || at < page || at - page >= page_size) continue;
        uint64_t none = untouched;
        guard.first.compare_exchange_strong(none, at - page);
        if (mprotect(reinterpret_cast<void *>(page), page_size, PROT_READ | PROT_WRITE) == 0) return;
    }
    // Not ours: the instruction runs again and meets who was there before.
    sigaction(number, number == SIGSEGV ? &former_segv : &former_bus, nullptr);
}

void catch_faults() {
    static std::once_flag once;
    std::call_once(once, [] {
        page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        struct sigaction action = {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGSEGV, &action, &former_segv);
        sigaction(SIGBUS, &action, &former_bus);
    });
}

} // namespace

GuardedBytes::GuardedBytes(size_t size) : size_(size) {
    catch_faults();
    pages_ = (size + page_size - 1) / page_size * page_size;
    void *const base = mmap(nullptr, pages_ + page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::runtime_error("no memory for a guard page");
    std::byte *const end = static_cast<std::byte *>(base) + pages_;
    data_ = end - size;
    for (slot_ = 0; slot_ < guards.size(); ++slot_) {
        uintptr_t free = 0;
        if (!guards[slot_].page.compare_exchange_strong(free, reinterpret_cast<uintptr_t>(end))) continue;
        guards[slot_].first.store(untouched);
        if (mprotect(end, page_size, PROT_NONE) == 0) return;
        guards[slot_].page.store(0);
        break;
    }
    munmap(base, pages_ + page_size);
    throw std::runtime_error("no guard page can be had");
}

GuardedBytes::~GuardedBytes() {
    guards[slot_].page.store(0);
    munmap(data_ + size_ - pages_, pages_ + page_size);
}

std::optional<uint64_t> GuardedBytes::touched() const {
    const uint64_t first = guards[slot_].first.load();
    return first == untouched ? std::nullopt : std::optional(first);
}

} // namespace hbf::conformance
