// SPDX-License-Identifier: Apache-2.0
// Reference, "Memory Management": copies of one range. What waits for what is the runtime reference's page "API
// synchronization behavior".
#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

enum class Side { device, host, any };

uint64_t number(const void *at) {
    return reinterpret_cast<uintptr_t>(at);
}

// Whether an address may stand where a call wants memory of that side; with unified addressing pinned memory is both.
bool fits(CUdeviceptr address, Side side) {
    return side != Side::device || machine().memory().find(address).has_value();
}

bool on_host(CUdeviceptr address) {
    const std::optional<model::BlockInfo> block = machine().memory().find(address);
    return !block || block->kind == model::MemoryKind::host || block->kind == model::MemoryKind::registered;
}

struct Copy {
    CUdeviceptr to, from;
    size_t size;
    Side to_side = Side::any, from_side = Side::any;
};

CUresult refused(const Copy &copy) {
    if (copy.to == 0 || copy.from == 0) return INVALID_VALUE;
    return fits(copy.to, copy.to_side) && fits(copy.from, copy.from_side) ? SUCCESS : INVALID_VALUE;
}

// "For transfers from any host memory to any host memory, the function is fully synchronous with respect to the host."
CUresult asynchronous(Call function, const Copy &copy, CUstream handle) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (copy.size == 0) return SUCCESS;
        if (const CUresult no = refused(copy)) return no;
        const model::Outcome outcome = stream->stream->copy(copy.to, copy.from, copy.size);
        if (outcome != model::Outcome::ok) return refusal(outcome);
        return on_host(copy.to) && on_host(copy.from) ? done(context, stream->stream->synchronize()) : SUCCESS;
    });
}

// From pageable memory "the function will return once the pageable buffer has been copied to the staging memory"; "for
// transfers from device memory to device memory, no host-side synchronization is performed"; else it returns when all is
// over.
CUresult synchronous(Call function, const Copy &copy) {
    return in_context(function, [&](Context &context) -> CUresult {
        if (copy.size == 0) return SUCCESS;
        if (const CUresult no = refused(copy)) return no;
        Stream *const stream = stream_of(nullptr, context);
        const model::Outcome outcome = stream->stream->copy(copy.to, copy.from, copy.size);
        if (outcome != model::Outcome::ok) return refusal(outcome);
        const bool to_host = on_host(copy.to), from_host = on_host(copy.from);
        if (!to_host && !from_host) return SUCCESS;
        if (from_host && !to_host && !machine().memory().find(copy.from)) return SUCCESS;
        return done(context, stream->stream->synchronize());
    });
}

// The contexts say whose memory it is, which the addresses do, too.
CUresult check_contexts(CUcontext to, CUcontext from) {
    return valid(to) && valid(from) && to->alive() && from->alive() ? SUCCESS : INVALID_CONTEXT;
}

} // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return synchronous(Call::cuMemcpy, {to, from, size});
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    return synchronous(Call::cuMemcpyHtoD_v2, {to, number(from), size, Side::device, Side::host});
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    return synchronous(Call::cuMemcpyDtoH_v2, {number(to), from, size, Side::host, Side::device});
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return synchronous(Call::cuMemcpyDtoD_v2, {to, from, size, Side::device, Side::device});
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size) {
    if (const CUresult no = check_contexts(to_context, from_context)) return call(Call::cuMemcpyPeer, [&] { return no; });
    return synchronous(Call::cuMemcpyPeer, {to, from, size, Side::device, Side::device});
}

// "This function infers the type of the transfer from the pointer values."
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return asynchronous(Call::cuMemcpyAsync, {to, from, size}, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return asynchronous(Call::cuMemcpyHtoDAsync_v2, {to, number(from), size, Side::device, Side::host}, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return asynchronous(Call::cuMemcpyDtoHAsync_v2, {number(to), from, size, Side::host, Side::device}, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return asynchronous(Call::cuMemcpyDtoDAsync_v2, {to, from, size, Side::device, Side::device}, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                           CUstream stream) {
    if (const CUresult no = check_contexts(to_context, from_context))
        return call(Call::cuMemcpyPeerAsync, [&] { return no; });
    return asynchronous(Call::cuMemcpyPeerAsync, {to, from, size, Side::device, Side::device}, stream);
}

} // extern "C"
} // namespace hbf::emulated::cuda
