// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/hip/coherence.hpp"

namespace hbf::emulated::hip {

// "Coherence control": fine-grained memory is coherent while a kernel runs; coarse-grained memory is only "at the end of
// a kernel" and other boundaries, which is what hipHostMallocNonCoherent asks for.
std::optional<model::Coherence> host_coherence(model::Device &device, unsigned int flags) {
    model::Faults &faults = machine().faults();
    if (faults.on(model::Fault::coherence_lies, device.index())) return model::Coherence::software;
    if (device.profile().host_access != model::Coherence::hardware) return std::nullopt;
    if (flags & hipHostMallocNonCoherent) return model::Coherence::boundary;
    if (faults.fires(model::Fault::hip_fine_is_coarse, device.index())) return model::Coherence::boundary;
    return std::nullopt;
}

// Header, hipMemRangeCoherencyMode: what was asked for, not what the machine makes of it.
CoherencyMode mode_of(const model::BlockInfo &block) {
    switch (block.kind) {
    case model::MemoryKind::device:
        return block.flags == hipDeviceMallocFinegrained || block.flags == hipDeviceMallocUncached ? FINE_GRAIN
                                                                                                   : COARSE_GRAIN;
    case model::MemoryKind::host:
    case model::MemoryKind::registered:
    case model::MemoryKind::managed: {
        const bool asked = block.kind == model::MemoryKind::host && (block.flags & hipHostMallocNonCoherent);
        const int device = block.device >= 0 ? block.device : current().index();
        const bool claimed = machine().device(device).profile().host_access_claimed == model::Coherence::hardware;
        return asked || !claimed ? COARSE_GRAIN : FINE_GRAIN;
    }
    case model::MemoryKind::reserved:
        break;
    }
    return INDETERMINATE;
}

} // namespace hbf::emulated::hip
