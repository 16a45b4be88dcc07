// SPDX-License-Identifier: Apache-2.0
// Unified shared memory: allocations of device, host and both.
#include <map>
#include <mutex>
#include <optional>

#include "conformance/emulators/level_zero/driver.hpp"

namespace hbf::emulated::l0 {
namespace {

// "must be zero or a power-of-two"
bool bad_alignment(size_t alignment) {
    return (alignment & (alignment - 1)) != 0;
}

Result hand_out(const model::Allocation &made, bool on_host, void **out) {
    if (made.outcome == model::Outcome::no_memory) return on_host ? ze::out_of_host_memory : ze::out_of_device_memory;
    if (made.outcome != model::Outcome::ok) return result_of(made.outcome);
    *out = reinterpret_cast<void *>(made.address); // NOLINT(performance-no-int-to-ptr)
    return ze::success;
}

// The machine aligns managed memory to pages: what is to be aligned wider lies in a block that is as much larger, and is
// known by where it begins for its user.
struct Shifted {
    std::mutex mutex;
    std::map<uint64_t, uint64_t> blocks; // the user's address -> the block's
};
Shifted &shifted() {
    static Shifted *const one = new Shifted;
    return *one;
}
constexpr size_t page = 4096;

model::Allocation allocate_shared(int device, size_t size, size_t alignment) {
    if (alignment <= page) return machine().memory().allocate_managed(device, size);
    model::Allocation made = machine().memory().allocate_managed(device, size + alignment);
    if (made.outcome != model::Outcome::ok) return made;
    const uint64_t at = (made.address + alignment - 1) & ~uint64_t{alignment - 1};
    Shifted &all = shifted();
    const std::lock_guard lock(all.mutex);
    all.blocks[at] = made.address;
    made.address = at;
    return made;
}

uint64_t block_of(uint64_t address) {
    Shifted &all = shifted();
    const std::lock_guard lock(all.mutex);
    const auto found = all.blocks.find(address);
    if (found == all.blocks.end()) return address;
    const uint64_t block = found->second;
    all.blocks.erase(found);
    return block;
}

} // namespace
} // namespace hbf::emulated::l0

using namespace hbf::emulated::l0;
using hbf::model::MemoryKind;
using hbf::model::Outcome;

// "Device allocations are owned by a specific device."
HBF_ZE zeMemAllocDevice(ze::Context context, const ze::DeviceAllocDesc *desc, size_t size, size_t alignment,
                        ze::Device device, void **out) {
    if (any_null(context, device)) return ze::invalid_null_handle;
    if (any_null(desc, out)) return ze::invalid_null_pointer;
    if (bad_alignment(alignment)) return ze::unsupported_alignment;
    if (size == 0 || size >= device_of(device->index).profile().memory) return ze::unsupported_size;
    if (const Result state = state_of(device->index); state != ze::success) return state;
    return hand_out(machine().memory().allocate_device(device->index, size, alignment), false, out);
}

// "Host allocations are accessible by the host and all devices within the driver's context."
HBF_ZE zeMemAllocHost(ze::Context context, const ze::HostAllocDesc *desc, size_t size, size_t alignment, void **out) {
    if (!context) return ze::invalid_null_handle;
    if (any_null(desc, out)) return ze::invalid_null_pointer;
    if (bad_alignment(alignment)) return ze::unsupported_alignment;
    if (size == 0) return ze::unsupported_size;
    const int index = devices().front()->index;
    // A machine that lies of it keeps what the CPU wrote in the CPU's cache.
    std::optional<hbf::model::Coherence> coherence;
    if (machine().faults().on(hbf::model::Fault::coherence_lies, index)) coherence = hbf::model::Coherence::software;
    return hand_out(machine().memory().allocate_host(index, size, alignment, 0, coherence), true, out);
}

// "Shared allocations share ownership between the host and one or more devices."
HBF_ZE zeMemAllocShared(ze::Context context, const ze::DeviceAllocDesc *desc, const ze::HostAllocDesc *host, size_t size,
                        size_t alignment, ze::Device device, void **out) {
    if (!context) return ze::invalid_null_handle;
    if (any_null(desc, out) || !host) return ze::invalid_null_pointer;
    if (bad_alignment(alignment)) return ze::unsupported_alignment;
    if (size == 0) return ze::unsupported_size;
    const int index = device ? device->index : devices().front()->index;
    return hand_out(allocate_shared(index, size, alignment), false, out);
}

// "The application must ensure the device is not currently referencing the memory": nothing is waited for.
HBF_ZE zeMemFree(ze::Context context, void *at) {
    if (!context) return ze::invalid_null_handle;
    if (!at) return ze::invalid_null_pointer;
    return result_of(machine().memory().free(block_of(reinterpret_cast<uint64_t>(at))));
}

// "ZE_MEMORY_TYPE_UNKNOWN" for memory that is not the driver's.
HBF_ZE zeMemGetAllocProperties(ze::Context context, const void *at, ze::AllocationProperties *out, ze::Device *owner) {
    if (!context) return ze::invalid_null_handle;
    if (any_null(at, static_cast<const void *>(out))) return ze::invalid_null_pointer;
    const auto block = machine().memory().find(reinterpret_cast<uint64_t>(at));
    out->type = 0, out->id = 0, out->pageSize = 0;
    if (owner) *owner = nullptr;
    if (!block) return ze::success;
    out->type = block->kind == MemoryKind::device    ? ze::memory_device
                : block->kind == MemoryKind::managed ? ze::memory_shared
                                                     : ze::memory_host;
    out->id = block->id;
    out->pageSize = block->kind == MemoryKind::device ? 65536 : 4096;
    for (ze::DeviceObject *const one : devices())
        if (owner && block->kind != MemoryKind::host && one->index == block->device) *owner = one;
    return ze::success;
}

HBF_ZE zeMemGetAddressRange(ze::Context context, const void *at, void **base, size_t *size) {
    if (!context) return ze::invalid_null_handle;
    if (!at) return ze::invalid_null_pointer;
    const auto block = machine().memory().find(reinterpret_cast<uint64_t>(at));
    if (!block) return ze::unknown;
    if (base) *base = reinterpret_cast<void *>(block->address); // NOLINT(performance-no-int-to-ptr)
    if (size) *size = block->size;
    return ze::success;
}
