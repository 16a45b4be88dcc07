// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/launch.hpp"

#include <atomic>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/text.hpp"
#include "plugins/host/signals_blocked.hpp"

namespace hbf::sim {
namespace {

constexpr uint64_t first_id = 0x5100; // no index, no address
constexpr uint32_t groups_at_once = 2;

// This thread goes to other CPUs than `cpu`, if it may: on a busy machine two of one CPU seldom run at the same time.
void leave(int cpu) noexcept {
    cpu_set_t allowed;
    if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    CPU_CLR(static_cast<size_t>(cpu), &allowed);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

} // namespace

uint32_t kernel_count() noexcept {
    return static_cast<uint32_t>(kernels::device::catalogue().size());
}

std::string_view kernel_name(uint32_t index) noexcept {
    return kernels::device::catalogue()[index].name;
}

void find_kernel(std::string_view name, hbf_kernel_info &out) {
    const kernels::device::Kernel *const kernel = kernels::device::find(name);
    if (!kernel)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("no kernel \"{}\": the simulated device has the {} of kernels/device", name, kernel_count()));
    if (kernel->buffer_count > Launch::most_buffers || kernel->arguments_size > Launch::most_arguments)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("kernel \"{}\" has more buffers or arguments than a launch holds here", name));
    out.max_group_size = most_group_size;
    out.kernel = first_id + static_cast<uint64_t>(kernel - kernels::device::catalogue().data());
    out.arguments_size = kernel->arguments_size;
    out.buffer_count = kernel->buffer_count;
    out.concurrent_groups = groups_at_once;
    sdk::set_text(out.name, kernel->name);
    sdk::set_text(out.origin, "host twin, simulated");
}

const kernels::device::Kernel *kernel_of(uint64_t id) noexcept {
    const auto all = kernels::device::catalogue();
    return id >= first_id && id - first_id < all.size() ? &all[id - first_id] : nullptr;
}

void run(const Launch &launch) noexcept {
    std::array<kernels::device::TwinBuffer, Launch::most_buffers> buffers;
    for (uint32_t i = 0; i < launch.count; ++i)
        buffers[i] = {launch.buffers[i].place.region->store.at(launch.buffers[i].place.offset), launch.buffers[i].size};
    // Each by whoever is free, this thread or another: groups that wait for each other meet.
    const uint32_t *const count = launch.groups;
    const uint64_t groups = uint64_t{count[0]} * count[1] * count[2];
    std::atomic<uint64_t> next{0};
    const auto work = [&] {
        for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < groups;) {
            const uint32_t group[3] = {static_cast<uint32_t>(i % count[0]), static_cast<uint32_t>(i / count[0] % count[1]),
                                       static_cast<uint32_t>(i / count[0] / count[1])};
            launch.kernel->run_group(buffers.data(), launch.arguments.data(), group, count, launch.group_size);
        }
    };
    std::thread other;
    if (groups > 1) {
        const host::SignalsBlocked blocked;
        try {
            other = std::thread([&work, here = sched_getcpu()] {
                leave(here);
                work();
            });
        } catch (const std::system_error &) { // no thread is left: one after the other, as on a smaller device
        }
    }
    work();
    if (other.joinable()) other.join();
}

} // namespace hbf::sim
