// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hbf::measure {
namespace {

constexpr int most_cpus = 4096; // more than cpu_set_t has

struct CpuMask {
    cpu_set_t *set = CPU_ALLOC(most_cpus);
    size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    CpuMask() { CPU_ZERO_S(bytes, set); }
    CpuMask(const CpuMask &) = delete;
    CpuMask &operator=(const CpuMask &) = delete;
    ~CpuMask() { CPU_FREE(set); }
};

} // namespace

std::vector<int> allowed_cpus() {
    CpuMask mask;
    std::vector<int> out;
    if (sched_getaffinity(0, mask.bytes, mask.set) != 0) return out;
    for (int cpu = 0; cpu < most_cpus; ++cpu) {
        if (CPU_ISSET_S(static_cast<size_t>(cpu), mask.bytes, mask.set)) out.push_back(cpu);
    }
    return out;
}

bool bind_thread(const std::vector<int> &cpus) {
    CpuMask mask;
    for (int cpu : cpus) {
        if (cpu >= 0 && cpu < most_cpus) CPU_SET_S(static_cast<size_t>(cpu), mask.bytes, mask.set);
    }
    return !cpus.empty() && sched_setaffinity(0, mask.bytes, mask.set) == 0;
}

CpuPlace current_place() {
    unsigned cpu = 0, node = 0;
    if (syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return {};
    return {static_cast<int>(cpu), static_cast<int>(node)};
}

PagePlaces page_places(const std::byte *address, uint64_t size, size_t most) {
    PagePlaces out;
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t pages = std::max<uint64_t>(1, size / page);
    const uint64_t stride = std::max<uint64_t>(1, pages / std::max<size_t>(1, most));
    std::vector<void *> addresses;
    for (uint64_t i = 0; i < pages; i += stride) addresses.push_back(const_cast<std::byte *>(address + i * page));
    std::vector<int> status(addresses.size(), -1);
    // nodes == NULL: only tells where each page is
    if (syscall(SYS_move_pages, 0, addresses.size(), addresses.data(), nullptr, status.data(), 0) != 0) {
        out.error = std::string("move_pages: ") + std::strerror(errno);
        return out;
    }
    for (int node : status) ++out.pages[node < 0 ? -1 : node];
    return out;
}

} // namespace hbf::measure
