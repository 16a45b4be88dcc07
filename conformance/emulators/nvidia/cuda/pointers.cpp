// SPDX-License-Identifier: Apache-2.0
// Reference, "Unified Addressing": what an address is.
#include <cstring>

#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

enum MemoryType : unsigned int { memory_host = 1, memory_device = 2 };

template <class T>
CUresult put(void *out, T value) {
    std::memcpy(out, &value, sizeof value);
    return SUCCESS;
}

Context *context_of(const model::BlockInfo &block) {
    if (Context *const owner = owner_of_memory(block.address)) return owner;
    if (block.device < 0) return nullptr;
    const CUdevice ordinal = ordinal_of(block.device);
    return ordinal < 0 ? nullptr : &primary(*device_of(ordinal), ordinal);
}

unsigned int type_of(const model::BlockInfo &block) {
    return block.kind == model::MemoryKind::host || block.kind == model::MemoryKind::registered ? memory_host
                                                                                                : memory_device;
}

CUresult answer(void *out, int attribute, CUdeviceptr address, const model::BlockInfo &block) {
    switch (attribute) {
    case POINTER_CONTEXT: {
        // "If ptr is memory from cuMemCreate or a pool, no context".
        Context *const context = block.physical ? nullptr : context_of(block);
        return put(out, context);
    }
    case POINTER_MEMORY_TYPE:
        return put(out, type_of(block));
    case POINTER_DEVICE_POINTER:
        return put(out, address);
    case POINTER_HOST_POINTER:
        if (!block.cpu) return INVALID_VALUE;
        return put(out, static_cast<char *>(block.cpu) + (address - block.address));
    case POINTER_SYNC_MEMOPS:
        return put(out, 0u);
    case POINTER_BUFFER_ID:
        return put(out, static_cast<unsigned long long>(block.id));
    case POINTER_IS_MANAGED:
        return put(out, block.kind == model::MemoryKind::managed ? 1u : 0u);
    case POINTER_DEVICE_ORDINAL: {
        Context *const context = context_of(block);
        return put(out, block.device >= 0 ? ordinal_of(block.device) : context ? context->ordinal : 0);
    }
    case POINTER_IS_LEGACY_CUDA_IPC_CAPABLE:
        return put(out, 0u);
    case POINTER_RANGE_START_ADDR:
        return put(out, CUdeviceptr{block.address});
    case POINTER_RANGE_SIZE:
        return put(out, size_t{block.size});
    case POINTER_MAPPED:
        return put(out, block.kind == model::MemoryKind::reserved ? 0u : 1u);
    case POINTER_ALLOWED_HANDLE_TYPES:
        return put(out, 0u);
    case POINTER_ACCESS_FLAGS:
        return put(out, 3u); // read and write
    default:
        return NOT_SUPPORTED;
    }
}

} // namespace

extern "C" {

// "If ptr was not allocated by, mapped by, or registered with a CUcontext ... CUDA_ERROR_INVALID_VALUE is returned."
CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
    return in_context(Call::cuPointerGetAttribute, [&](Context &) -> CUresult {
        if (!out || attribute < 1 || attribute > 21) return INVALID_VALUE;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        return block ? answer(out, attribute, address, *block) : INVALID_VALUE;
    });
}

// "This function will not return an error when the ptr encountered is not a valid CUDA pointer. Instead, the attributes are
// assigned default NULL values."
CUresult cuPointerGetAttributes(unsigned int count, int *attributes, void **out, CUdeviceptr address) {
    return in_context(Call::cuPointerGetAttributes, [&](Context &) -> CUresult {
        if (count == 0 || !attributes || !out) return INVALID_VALUE;
        const std::optional<model::BlockInfo> block = machine().memory().find(address);
        for (unsigned int i = 0; i < count; ++i) {
            if (!out[i]) return INVALID_VALUE;
            if (block && answer(out[i], attributes[i], address, *block) == SUCCESS) continue;
            switch (attributes[i]) {
            case POINTER_CONTEXT:
            case POINTER_DEVICE_POINTER:
            case POINTER_HOST_POINTER:
            case POINTER_BUFFER_ID:
            case POINTER_RANGE_START_ADDR:
            case POINTER_RANGE_SIZE:
                put(out[i], uint64_t{0});
                break;
            case POINTER_DEVICE_ORDINAL:
                put(out[i], -2);
                break; // CU_DEVICE_INVALID
            default:
                put(out[i], 0u);
            }
        }
        return SUCCESS;
    });
}

// SYNC_MEMOPS: synchronous copies of the region never return early. They do not here.
CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr address) {
    return in_context(Call::cuPointerSetAttribute, [&](Context &) -> CUresult {
        if (!value || attribute != POINTER_SYNC_MEMOPS || !machine().memory().find(address)) return INVALID_VALUE;
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
