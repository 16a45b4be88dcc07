// SPDX-License-Identifier: Apache-2.0
// What a device may do with another's memory.
#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {
namespace {

bool said_to_reach(model::Device &from, model::Device &to) {
    return machine().peer_advertised(from.index(), to.index());
}

bool over_xgmi(model::Device &from, model::Device &to) {
    const model::LinkState link = machine().peer_link(from.index(), to.index());
    return link.profile && link.profile->kind == "xgmi" && link.up();
}

template <class Work>
hipError_t of_pair(Call call, int from, int to, Work &&work) {
    return of_device(call, from, [&](model::Device &a) -> hipError_t {
        model::Device *const b = device_of(to);
        return b ? work(a, *b) : hipErrorInvalidDevice;
    });
}

} // namespace

extern "C" {

// Header, hipDeviceCanAccessPeer: "0 ... if peerDeviceId is the same as deviceId".
hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
    return of_pair(Call::hipDeviceCanAccessPeer, device, peer, [&](model::Device &from, model::Device &to) {
        return give(can, device != peer && said_to_reach(from, to) ? 1 : 0);
    });
}

// Header, hipDeviceEnablePeerAccess: "enable direct access from current device's virtual address space to memory allocations
// physically located on a peer device"; hipErrorPeerAccessAlreadyEnabled; flags must be zero.
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return of_pair(Call::hipDeviceEnablePeerAccess, current_ordinal(), peer,
                   [&](model::Device &from, model::Device &to) -> hipError_t {
                       if (flags != 0) return hipErrorInvalidValue;
                       if (&from == &to) return hipErrorInvalidDevice;
                       if (!said_to_reach(from, to)) return hipErrorPeerAccessUnsupported;
                       switch (machine().enable_peer(from.index(), to.index())) {
                       case model::Outcome::busy:
                           return hipErrorPeerAccessAlreadyEnabled;
                       case model::Outcome::unsupported:
                           return hipErrorPeerAccessUnsupported;
                       case model::Outcome::lost:
                           return hipErrorRuntimeOther;
                       default:
                           return hipSuccess;
                       }
                   });
}

// Header, hipDeviceDisablePeerAccess: hipErrorPeerAccessNotEnabled.
hipError_t hipDeviceDisablePeerAccess(int peer) {
    return of_pair(Call::hipDeviceDisablePeerAccess, current_ordinal(), peer,
                   [&](model::Device &from, model::Device &to) -> hipError_t {
                       return machine().disable_peer(from.index(), to.index()) == model::Outcome::ok
                                  ? hipSuccess
                                  : hipErrorPeerAccessNotEnabled;
                   });
}

// Header, hipDeviceGetP2PAttribute: "performance rank, access supported, native atomics, array access"; the same device
// twice is hipErrorInvalidDevice.
hipError_t hipDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
    return of_pair(Call::hipDeviceGetP2PAttribute, device, peer, [&](model::Device &from, model::Device &to) -> hipError_t {
        if (&from == &to) return hipErrorInvalidDevice;
        switch (attribute) {
        case PEER_PERFORMANCE_RANK:
            return give(value, over_xgmi(from, to) ? 1 : 0);
        case PEER_ACCESS_SUPPORTED:
            return give(value, said_to_reach(from, to) ? 1 : 0);
        case PEER_NATIVE_ATOMIC:
            return give(value, over_xgmi(from, to) ? 1 : 0);
        case PEER_ARRAY_ACCESS:
            return give(value, 0);
        default:
            return hipErrorInvalidValue;
        }
    });
}

// Header, hipExtGetLinkTypeAndHopCount: "the link type and hop count between two devices", by hsa_amd_link_info_type_t.
hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, uint32_t *type, uint32_t *hops) {
    return of_pair(Call::hipExtGetLinkTypeAndHopCount, device, peer,
                   [&](model::Device &from, model::Device &to) -> hipError_t {
                       if (!type || !hops || &from == &to) return hipErrorInvalidValue;
                       const bool xgmi = over_xgmi(from, to);
                       *type = xgmi ? LINK_XGMI : LINK_PCIE;
                       *hops = xgmi ? 1 : 2;
                       return hipSuccess;
                   });
}

} // extern "C"
} // namespace hbf::emulated::hip
