// SPDX-License-Identifier: Apache-2.0
// cn_api.h, "Memory Management": what is allocated.
#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

uint64_t address(const void *at) noexcept {
    return reinterpret_cast<uintptr_t>(at);
}

// "The address must be the one that an allocation returned."
CNresult give_back(uint64_t at, bool host) {
    const auto block = machine().memory().find(at);
    const model::MemoryKind kind = host ? model::MemoryKind::host : model::MemoryKind::device;
    if (!block || block->address != at || block->kind != kind) return INVALID_ADDRESS;
    return refusal(machine().memory().free(at));
}

} // namespace

extern "C" {

CNresult cnMemGetInfo(uint64_t *free, uint64_t *total) {
    return in_context(Call::cnMemGetInfo, [&](Context &context) -> CNresult {
        if (!free || !total) return INVALID_VALUE;
        const model::Usage usage = machine().memory().usage(context.device->index());
        *free = usage.free, *total = usage.total;
        return SUCCESS;
    });
}

CNresult cnMalloc(CNaddr *at, uint64_t bytes) {
    return in_context(Call::cnMalloc, [&](Context &context) -> CNresult {
        if (!at || bytes == 0) return INVALID_VALUE;
        const model::Allocation made = machine().memory().allocate_device(context.device->index(), bytes);
        *at = made.address;
        return refusal(made.outcome);
    });
}

CNresult cnFree(CNaddr at) {
    return call(Call::cnFree, [&] { return give_back(at, false); });
}

CNresult cnMallocHost(void **at, uint64_t bytes) {
    return in_context(Call::cnMallocHost, [&](Context &context) -> CNresult {
        if (!at || bytes == 0) return INVALID_VALUE;
        const model::Allocation made = machine().memory().allocate_host(context.device->index(), bytes);
        *at = reinterpret_cast<void *>(made.address);
        return made.outcome == model::Outcome::no_memory ? static_cast<CNresult>(SYSTEM_OUT_OF_MEMORY)
                                                         : refusal(made.outcome);
    });
}

CNresult cnFreeHost(void *at) {
    return call(Call::cnFreeHost, [&] { return give_back(address(at), true); });
}

CNresult cnMemGetAddressRange(CNaddr *base, uint64_t *bytes, CNaddr at) {
    return call(Call::cnMemGetAddressRange, [&]() -> CNresult {
        const auto block = machine().memory().find(at);
        if (!block || block->kind != model::MemoryKind::device) return INVALID_ADDRESS;
        if (base) *base = block->address;
        if (bytes) *bytes = block->size;
        return SUCCESS;
    });
}

} // extern "C"

} // namespace hbf::emulated::cn
