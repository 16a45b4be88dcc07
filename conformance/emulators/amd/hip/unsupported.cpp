// SPDX-License-Identifier: Apache-2.0
// What is exported and not done: hipErrorNotSupported, header: "Produced when the hip API is not supported/implemented".
#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {
extern "C" {
#define U(release, name)                                                                                                    \
    HBF_EXPORTED hipError_t name();                                                                                         \
    hipError_t name() {                                                                                                     \
        calls().count(static_cast<size_t>(Call::name));                                                                     \
        return noted(hipErrorNotSupported);                                                                                 \
    }
#include "conformance/emulators/amd/hip/unsupported.inc"
#undef U
}
} // namespace hbf::emulated::hip
