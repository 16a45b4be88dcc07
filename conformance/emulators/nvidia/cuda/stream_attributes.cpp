// SPDX-License-Identifier: Apache-2.0
// Reference, "Stream Management": attributes; of them the window of memory whose lines the L2 cache is asked to keep.
#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

constexpr int normal = 0, persisting = 2; // CUaccessProperty

// "num_bytes ... must be less than CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE"; missProp "can be only NORMAL or
// STREAMING"; hitRatio in [0, 1].
bool right(const CUaccessPolicyWindow &window, model::Device &device) {
    if (window.bytes > static_cast<size_t>(*attribute_of(device, MAX_ACCESS_POLICY_WINDOW_SIZE))) return false;
    if (!(window.hit_ratio >= 0 && window.hit_ratio <= 1)) return false;
    return window.hit_property >= normal && window.hit_property <= persisting && window.miss_property >= normal &&
           window.miss_property < persisting;
}

} // namespace

extern "C" {

CUresult cuStreamSetAttribute(CUstream handle, int attribute, const CUstreamAttrValue *value) {
    return in_context(Call::cuStreamSetAttribute, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!value) return INVALID_VALUE;
        if (attribute != STREAM_ACCESS_POLICY_WINDOW) return NOT_SUPPORTED;
        if (!has(*context.device, MAX_ACCESS_POLICY_WINDOW_SIZE)) return NOT_SUPPORTED;
        if (!right(value->window, *context.device)) return INVALID_VALUE;
        std::lock_guard lock(stream->mutex);
        stream->window = value->window;
        return SUCCESS;
    });
}

CUresult cuStreamGetAttribute(CUstream handle, int attribute, CUstreamAttrValue *value) {
    return in_context(Call::cuStreamGetAttribute, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!value) return INVALID_VALUE;
        if (attribute == STREAM_PRIORITY) return give(&value->priority, stream->priority);
        if (attribute != STREAM_ACCESS_POLICY_WINDOW) return NOT_SUPPORTED;
        std::lock_guard lock(stream->mutex);
        return give(&value->window, stream->window);
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
