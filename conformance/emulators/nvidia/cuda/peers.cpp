// SPDX-License-Identifier: Apache-2.0
// Reference, "Peer Context Memory Access".
#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// Two devices, by ordinal, that are not one.
template <class Work>
CUresult of_pair(Call function, CUdevice from, CUdevice to, Work &&work) {
    return call(function, [&]() -> CUresult {
        model::Device *const a = device_of(from), *const b = device_of(to);
        return a && b ? work(*a, *b) : INVALID_DEVICE;
    });
}

} // namespace

extern "C" {

// "Returns 1 if contexts on dev are capable of directly accessing memory from contexts on peerDev"; a device is no peer of
// itself.
CUresult cuDeviceCanAccessPeer(int *out, CUdevice from, CUdevice to) {
    return of_pair(Call::cuDeviceCanAccessPeer, from, to, [&](model::Device &a, model::Device &b) {
        return give(out, &a != &b && machine().peer_advertised(a.index(), b.index()) ? 1 : 0);
    });
}

// "Returns CUDA_ERROR_INVALID_DEVICE if ... they represent the same device."
CUresult cuDeviceGetP2PAttribute(int *out, int attribute, CUdevice from, CUdevice to) {
    return of_pair(Call::cuDeviceGetP2PAttribute, from, to, [&](model::Device &a, model::Device &b) -> CUresult {
        if (&a == &b) return INVALID_DEVICE;
        const bool peers = machine().peer_advertised(a.index(), b.index());
        const model::LinkState link = machine().peer_link(a.index(), b.index());
        const bool fast = link.profile && link.profile->kind == "nvlink" && link.up();
        switch (attribute) {
        case P2P_PERFORMANCE_RANK:
            return give(out, fast ? 0 : 1); // the lower, the better
        case P2P_ACCESS_SUPPORTED:
            return give(out, peers ? 1 : 0);
        case P2P_NATIVE_ATOMIC_SUPPORTED:
        case P2P_ARRAY_ACCESS_SUPPORTED:
            return give(out, peers && fast ? 1 : 0);
        case P2P_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
            return give(out, 0);
        default:
            return INVALID_VALUE;
        }
    });
}

// "Access granted by this call is unidirectional."
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    return in_context(Call::cuCtxEnablePeerAccess, [&](Context &context) -> CUresult {
        if (flags != 0) return INVALID_VALUE;
        if (!valid(peer) || !peer->alive() || peer == &context) return INVALID_CONTEXT;
        if (peer->device == context.device) return PEER_ACCESS_UNSUPPORTED;
        switch (const model::Outcome outcome = machine().enable_peer(context.device->index(), peer->device->index())) {
        case model::Outcome::unsupported:
            return PEER_ACCESS_UNSUPPORTED;
        case model::Outcome::busy:
            return PEER_ACCESS_ALREADY_ENABLED;
        default:
            return code(outcome);
        }
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return in_context(Call::cuCtxDisablePeerAccess, [&](Context &context) -> CUresult {
        if (!valid(peer) || !peer->alive()) return INVALID_CONTEXT;
        const model::Outcome outcome = machine().disable_peer(context.device->index(), peer->device->index());
        return outcome == model::Outcome::invalid ? PEER_ACCESS_NOT_ENABLED : code(outcome);
    });
}

// "Blocks until GPUDirect RDMA writes to the target context ... are visible to the specified scope"; a no-op where the
// writes' ordering covers the scope.
CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
    return in_context(Call::cuFlushGPUDirectRDMAWrites, [&](Context &context) -> CUresult {
        constexpr int option_host = 1, to_owner = 100, to_all_devices = 200;
        if (target != 0 || (scope != to_owner && scope != to_all_devices)) return INVALID_VALUE;
        const int options = *attribute_of(*context.device, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
        if ((options & option_host) == 0) return NOT_SUPPORTED;
        if (*attribute_of(*context.device, GPU_DIRECT_RDMA_WRITES_ORDERING) >= scope) return SUCCESS;
        machine().memory().flush_posted(context.device->index());
        return SUCCESS;
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
