// SPDX-License-Identifier: Apache-2.0
// Reference, "Virtual Memory Management": addresses, physical memory and who may touch it, each by itself.
#include <map>
#include <mutex>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

constexpr int pinned = 1; // CU_MEM_ALLOCATION_TYPE_PINNED

struct Physical {
    CUmemAllocationProp prop;
};
std::mutex mutex;
std::map<uint64_t, Physical> &physical() {
    static auto &all = *new std::map<uint64_t, Physical>;
    return all;
}

// Memory of a device is all that is emulated; "handle types" that cannot be had are NOT_SUPPORTED.
CUresult device_named(const CUmemAllocationProp *prop, model::Device *&device) {
    if (!prop || prop->type != pinned) return INVALID_VALUE;
    if (prop->location.type != LOCATION_DEVICE) return NOT_SUPPORTED;
    device = device_of(prop->location.id);
    if (!device) return INVALID_DEVICE;
    if (prop->requested_handle_types != 0 || !has(*device, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) return NOT_SUPPORTED;
    return SUCCESS;
}

bool whole(uint64_t value, const model::Device &device) {
    return value % device.profile().allocation_granularity == 0;
}

} // namespace

extern "C" {

// "If flag is CU_MEM_ALLOC_GRANULARITY_MINIMUM ..., RECOMMENDED": the same here.
CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop, int option) {
    return call(Call::cuMemGetAllocationGranularity, [&]() -> CUresult {
        model::Device *device = nullptr;
        if (option != 0 && option != 1) return INVALID_VALUE;
        if (const CUresult no = device_named(prop, device)) return no;
        return give(out, static_cast<size_t>(device->profile().allocation_granularity));
    });
}

// "size ... must be aligned to the granularity".
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    return call(Call::cuMemCreate, [&]() -> CUresult {
        model::Device *device = nullptr;
        if (!out || size == 0 || flags != 0) return INVALID_VALUE;
        if (const CUresult no = device_named(prop, device)) return no;
        if (!whole(size, *device)) return INVALID_VALUE;
        if (const CUresult broken = code(device->status())) return broken;
        const model::Allocation made = machine().memory().create_physical(device->index(), size);
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        const auto note = [&] {
            std::lock_guard lock(mutex);
            physical()[made.address] = {*prop};
        };
        or_undo(note, [&] { machine().memory().release_physical(made.address); });
        *out = made.address;
        return SUCCESS;
    });
}

// "The memory allocation will be freed when all outstanding mappings to the memory are unmapped and when all outstanding
// references to the handle ... are also released."
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return call(Call::cuMemRelease, [&]() -> CUresult {
        std::lock_guard lock(mutex);
        if (physical().erase(handle) == 0) return INVALID_VALUE;
        return refusal(machine().memory().release_physical(handle));
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle) {
    return call(Call::cuMemGetAllocationPropertiesFromHandle, [&]() -> CUresult {
        std::lock_guard lock(mutex);
        const auto at = physical().find(handle);
        return at == physical().end() ? INVALID_VALUE : give(out, at->second.prop);
    });
}

// "size ... must be a multiple of the host page size", "alignment ... must be a power of two", "addr: hint".
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr, unsigned long long flags) {
    return call(Call::cuMemAddressReserve, [&]() -> CUresult {
        if (!out || size == 0 || size % 4096 != 0 || (alignment & (alignment - 1)) != 0 || flags != 0) return INVALID_VALUE;
        size_t granularity = alignment;
        for (CUdevice ordinal = 0; ordinal < device_count(); ++ordinal)
            granularity = std::max<size_t>(granularity, device_of(ordinal)->profile().allocation_granularity);
        const model::Allocation made = machine().memory().reserve(size, granularity);
        if (made.outcome != model::Outcome::ok) return refusal(made.outcome);
        *out = made.address;
        return SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
    return call(Call::cuMemAddressFree, [&]() -> CUresult {
        const model::Outcome outcome = machine().memory().unreserve(address, size);
        return outcome == model::Outcome::ok ? SUCCESS : INVALID_VALUE;
    });
}

// "offset ... must be zero"; "the address range ... is not accessible until cuMemSetAccess is called".
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    return call(Call::cuMemMap, [&]() -> CUresult {
        if (size == 0 || offset != 0 || flags != 0) return INVALID_VALUE;
        {
            std::lock_guard lock(mutex);
            const auto at = physical().find(handle);
            if (at == physical().end()) return INVALID_VALUE;
            const model::Device *const device = device_of(at->second.prop.location.id);
            if (!whole(size, *device) || !whole(address, *device)) return INVALID_VALUE;
        }
        const model::Outcome outcome = machine().memory().map(address, size, offset, handle);
        return outcome == model::Outcome::busy ? MAP_FAILED : refusal(outcome);
    });
}

// "The range must be the entire address range that was mapped to"; nothing says that it waits for work in flight.
CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    return call(Call::cuMemUnmap, [&]() -> CUresult { return refusal(machine().memory().unmap(address, size)); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count) {
    return call(Call::cuMemSetAccess, [&]() -> CUresult {
        if (!access || count == 0 || size == 0) return INVALID_VALUE;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        if (!block || block->physical == 0) return INVALID_VALUE;
        for (size_t i = 0; i < count; ++i) {
            if (access[i].location.type != LOCATION_DEVICE) return NOT_SUPPORTED;
            const model::Device *const device = device_of(access[i].location.id);
            if (!device) return INVALID_DEVICE;
            if (access[i].flags != 0 && access[i].flags != 3) return access[i].flags == 1 ? NOT_SUPPORTED : INVALID_VALUE;
            if (device->index() != block->device && !machine().peer_advertised(device->index(), block->device))
                return INVALID_DEVICE; // no peer: the mapping cannot be made
        }
        for (size_t i = 0; i < count; ++i) {
            const model::Outcome outcome = machine().memory().set_access(
                address, size, device_of(access[i].location.id)->index(), access[i].flags == 3);
            if (outcome != model::Outcome::ok) return refusal(outcome);
        }
        return SUCCESS;
    });
}

CUresult cuMemGetAccess(unsigned long long *out, const CUmemLocation *location, CUdeviceptr address) {
    return call(Call::cuMemGetAccess, [&]() -> CUresult {
        if (!out || !location || location->type != LOCATION_DEVICE) return INVALID_VALUE;
        const model::Device *const device = device_of(location->id);
        if (!device) return INVALID_DEVICE;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        if (!block || block->physical == 0) return INVALID_VALUE;
        *out = machine().memory().access(address, device->index()) ? 3 : 0;
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
