// SPDX-License-Identifier: Apache-2.0
// Kernels: the host twins of the project's own, on the bytes where they lie, or on a device's lines of them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "conformance/sim/model/block.hpp"
#include "conformance/sim/model/engines.hpp"
#include "conformance/sim/model/parts.hpp"
#include "kernels/device/catalogue.hpp"
#include "plugins/host/signals_blocked.hpp"

namespace hbf::model {
namespace {

struct Buffer {
    End end;
    uint64_t size = 0;
    std::unique_ptr<std::byte[]> nowhere; // what a kernel touches instead of memory that drops its stores
};

Outcome find(Machine &machine, Agent agent, const Launch::Buffer &given, uint32_t access, Buffer &out) {
    Memory::Parts &memory = machine.memory().parts();
    out.size = given.size;
    if (const auto block = memory.holding(given.address); block && given.size == 0)
        out.size = block->size - (given.address - block->address);
    const bool reads = (access & 1u) != 0;
    const Outcome outcome = memory.resolve(agent, Reach::kernel, given.address, out.size, reads, out.end);
    if (outcome != Outcome::ok) return outcome;
    const bool peer = out.end.home() >= 0 && out.end.home() != agent.device && out.end.block->kind == MemoryKind::device;
    if (peer && machine.faults().fires(Fault::peer_kernel_drops, agent.device)) out.end.dropped = true;
    return Outcome::ok;
}

// Where the kernel is to look.
void *begin(Machine &machine, Agent agent, Buffer &buffer) {
    const End &end = buffer.end;
    if (!end.block) return reinterpret_cast<void *>(end.offset); // NOLINT(performance-no-int-to-ptr)
    if (end.dropped) {
        buffer.nowhere = std::make_unique<std::byte[]>(buffer.size);
        std::memset(buffer.nowhere.get(), 0xff, buffer.size);
        return buffer.nowhere.get();
    }
    if (!end.cache) return end.block->bytes(end.offset);
    if (end.block->coherence == Coherence::boundary && !machine.faults().fires(Fault::invalidate_lost, agent.device))
        end.cache->invalidate(end.offset, buffer.size);
    return end.cache->begin(end.offset, buffer.size);
}

void end(Machine &machine, Agent agent, const Buffer &buffer) {
    const End &end = buffer.end;
    if (end.block) end.block->touch();
    if (!end.cache || end.dropped) return;
    end.cache->end(end.offset, buffer.size);
    const bool lost =
        end.block->coherence == Coherence::boundary && machine.faults().fires(Fault::write_back_lost, agent.device);
    if (end.write_through || (end.block->coherence == Coherence::boundary && !lost))
        end.cache->write_back(end.offset, buffer.size);
}

// Each by whoever is free, this thread or another: groups that wait for each other meet.
void run_groups(const Launch &launch, const kernels::device::TwinBuffer *buffers, uint64_t groups) {
    const uint32_t *const count = launch.groups;
    std::atomic<uint64_t> next{0};
    const auto work = [&] {
        for (uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < groups;) {
            const uint32_t group[3] = {static_cast<uint32_t>(i % count[0]), static_cast<uint32_t>(i / count[0] % count[1]),
                                       static_cast<uint32_t>(i / count[0] / count[1])};
            launch.kernel->run_group(buffers, launch.arguments.data(), group, count, launch.group_size);
        }
    };
    std::thread other;
    if (groups > 1) {
        const host::SignalsBlocked blocked;
        try {
            other = std::thread(work);
        } catch (const std::system_error &) { // no thread is left: one after the other, as on a smaller device
        }
    }
    work();
    if (other.joinable()) other.join();
}

} // namespace

const kernels::device::Kernel *find_kernel(std::string_view name) noexcept {
    if (const auto *const exact = kernels::device::find(name)) return exact;
    for (const kernels::device::Kernel &kernel : kernels::device::catalogue())
        if (kernel.function == name) return &kernel;
    return nullptr;
}

Outcome run_launch(Machine &machine, int device, const Launch &launch) {
    const Agent agent{device, Agent::Kind::compute};
    const kernels::device::Kernel &kernel = *launch.kernel;
    std::array<Buffer, Launch::most_buffers> buffers;
    std::array<kernels::device::TwinBuffer, Launch::most_buffers> seen{};
    for (uint32_t i = 0; i < kernel.buffer_count; ++i)
        if (const Outcome outcome = find(machine, agent, launch.buffers[i], kernel.access[i], buffers[i]);
            outcome != Outcome::ok)
            return outcome;
    Faults &faults = machine.faults();
    if (faults.fires(Fault::launch_lost, device)) return Outcome::ok;
    for (uint32_t i = 0; i < kernel.buffer_count; ++i) seen[i] = {begin(machine, agent, buffers[i]), buffers[i].size};
    uint64_t groups = uint64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2];
    const bool fails = faults.fires(Fault::launch_fails, device), stops = faults.fires(Fault::fail, device);
    if (fails || stops) groups /= 2;
    if (faults.fires(Fault::group_skipped, device)) --groups;
    if (groups != 0) run_groups(launch, seen.data(), groups);
    for (uint32_t i = 0; i < kernel.buffer_count; ++i) end(machine, agent, buffers[i]);
    if (fails) return Outcome::launch_failed;
    return stops ? Outcome::failed : Outcome::ok;
}

} // namespace hbf::model
