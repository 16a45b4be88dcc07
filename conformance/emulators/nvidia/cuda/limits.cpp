// SPDX-License-Identifier: Apache-2.0
// Reference, "Context Management": limits, and the part of the L2 cache that keeps what is marked so.
#include <algorithm>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

std::atomic<size_t> *limit_of(Context &context, int limit) {
    switch (limit) {
    case LIMIT_STACK_SIZE:
        return &context.stack_size;
    case LIMIT_PRINTF_FIFO_SIZE:
        return &context.printf_size;
    case LIMIT_MALLOC_HEAP_SIZE:
        return &context.heap_size;
    case LIMIT_MAX_L2_FETCH_GRANULARITY:
        return &context.fetch_granularity;
    case LIMIT_PERSISTING_L2_CACHE_SIZE:
        // "CU_LIMIT_PERSISTING_L2_CACHE_SIZE ... only applicable to devices of compute capability >= 8.0"; a device that is
        // divided has none to give.
        return has(*context.device, MAX_PERSISTING_L2_CACHE_SIZE) ? &context.persisting_l2 : nullptr;
    default:
        return nullptr;
    }
}

} // namespace

extern "C" {

// "The driver is free to modify the requested value to meet h/w requirements": what is too much becomes the most.
CUresult cuCtxSetLimit(int limit, size_t value) {
    return in_context(Call::cuCtxSetLimit, [&](Context &context) -> CUresult {
        std::atomic<size_t> *const at = limit_of(context, limit);
        if (!at) return UNSUPPORTED_LIMIT;
        if (limit == LIMIT_PERSISTING_L2_CACHE_SIZE)
            value = std::min(value, static_cast<size_t>(*attribute_of(*context.device, MAX_PERSISTING_L2_CACHE_SIZE)));
        if (limit == LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128) return INVALID_VALUE;
        at->store(value);
        return SUCCESS;
    });
}

CUresult cuCtxGetLimit(size_t *out, int limit) {
    return in_context(Call::cuCtxGetLimit, [&](Context &context) -> CUresult {
        const std::atomic<size_t> *const at = limit_of(context, limit);
        return at ? give(out, at->load()) : UNSUPPORTED_LIMIT;
    });
}

// "Resets all persisting lines in cache to normal status": contents are where they were.
CUresult cuCtxResetPersistingL2Cache(void) {
    return in_context(Call::cuCtxResetPersistingL2Cache, [](Context &context) -> CUresult {
        return has(*context.device, MAX_PERSISTING_L2_CACHE_SIZE) ? SUCCESS : NOT_SUPPORTED;
    });
}

// "Greatest priority" is the lowest number.
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return in_context(Call::cuCtxGetStreamPriorityRange, [&](Context &) -> CUresult {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
