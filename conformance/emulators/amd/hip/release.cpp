// SPDX-License-Identifier: Apache-2.0
// Compiled once for each library, with HBF_HIP_MAJOR: hipRuntimeGetVersion of Debian's 5.2.3 gives 50221153 (the file's name
// ends so), ROCm 6.3.2's 60342134.
#include "conformance/emulators/amd/hip/runtime.hpp"

namespace hbf::emulated::hip {

const Release &release() noexcept {
#if HBF_HIP_MAJOR == 5
    static constexpr Release one{5, 2, 21153, "libamdhip64.so.5"};
#else
    static constexpr Release one{6, 3, 42134, "libamdhip64.so.6"};
#endif
    return one;
}

} // namespace hbf::emulated::hip
