// SPDX-License-Identifier: Apache-2.0
#include "memory/populate.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/mman.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "signals_blocked.hpp"

namespace hbf::host {
namespace {

#ifndef MADV_POPULATE_WRITE // glibc before 2.35
#define MADV_POPULATE_WRITE 23
#endif

constexpr uint64_t step = uint64_t{8} << 20; // cleared by the kernel, then stamped while it is still in the cache
constexpr uint64_t worth_a_thread = uint64_t{128} << 20; // below, a thread costs more than it saves
constexpr uint64_t stamp_every = 4096;

// Kernels before 5.14 cannot populate. A read into the page takes the same fault inside the kernel, where a page that cannot
// be had is EFAULT; a store would be SIGBUS.
int fault_by_read(std::byte *address, uint64_t size, uint64_t page) {
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zero < 0) return errno;
    int error = 0;
    for (uint64_t at = 0; at < size && error == 0;) {
        if (read(zero, address + at, 1) == 1)
            at += page;
        else if (errno != EINTR)
            error = errno;
    }
    close(zero);
    return error;
}

int fault_in(std::byte *address, uint64_t size, const PageKind &kind) {
    while (madvise(address, size, MADV_POPULATE_WRITE) != 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        return errno == EINVAL ? fault_by_read(address, size, kind.reserved_pool() ? kind.page : base_page_size()) : errno;
    }
    return 0;
}

void stamp(std::byte *address, uint64_t size) {
    for (uint64_t at = 0; at < size; at += stamp_every) {
        auto *word = reinterpret_cast<uint64_t *>(address + at);
        *word = reinterpret_cast<uintptr_t>(word) | 1;
    }
}

void populate_part(std::byte *address, uint64_t size, const PageKind &kind, std::atomic<int> &failure) {
    const uint64_t stride = std::max(step, kind.page);
    for (uint64_t at = 0; at < size && failure.load(std::memory_order_relaxed) == 0; at += stride) {
        const uint64_t part = std::min(stride, size - at);
        if (const int error = fault_in(address + at, part, kind); error != 0) {
            failure.store(error, std::memory_order_relaxed);
            return;
        }
        stamp(address + at, part);
    }
}

// Best effort: where the thread runs decides only how fast the kernel clears the pages, not where they are.
void run_on(const std::vector<int> &cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
        if (cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
    }
    if (CPU_COUNT(&set) > 0) pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

} // namespace

unsigned populate_threads(uint64_t size, size_t cpus) noexcept {
    const uint64_t most = std::min<uint64_t>(16, cpus == 0 ? std::thread::hardware_concurrency() : cpus);
    return static_cast<unsigned>(std::clamp<uint64_t>(size / worth_a_thread, 1, std::max<uint64_t>(most, 1)));
}

int populate(std::byte *address, uint64_t size, const PageKind &kind, const std::vector<int> &cpus) {
    const unsigned threads = populate_threads(size, cpus.size());
    std::atomic<int> failure{0};
    std::vector<std::thread> helpers;
    const auto part_begin = [&](unsigned i) { return i == threads ? size : size / kind.page * i / threads * kind.page; };
    const auto run = [&](unsigned i) {
        populate_part(address + part_begin(i), part_begin(i + 1) - part_begin(i), kind, failure);
    };
    unsigned started = 1; // this thread takes the first part, and those for which no thread was to be had
    helpers.reserve(threads);
    const SignalsBlocked blocked;
    for (; started < threads; ++started) {
        try {
            helpers.emplace_back([&, started] {
                run_on(cpus);
                run(started);
            });
        } catch (const std::exception &) { // threads or memory: those that run are to be joined all the same
            break;
        }
    }
    run(0);
    for (unsigned i = started; i < threads; ++i) run(i);
    for (std::thread &helper : helpers) helper.join();
    return failure.load(std::memory_order_relaxed);
}

} // namespace hbf::host
