// SPDX-License-Identifier: Apache-2.0
// "CN_ERROR_NOT_SUPPORTED: the operation is not supported": each of these, whatever it is given.
#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

enum class Unsupported : size_t {
#define U(name) name,
#include "conformance/emulators/cambricon/driver/unsupported.inc"
#undef U
};

CNresult refuse(Unsupported function) {
    calls().count(static_cast<size_t>(Call::supported) + static_cast<size_t>(function));
    return NOT_SUPPORTED;
}

} // namespace

extern "C" {
#define U(name)                                                                                                             \
    HBF_EXPORTED CNresult name(void);                                                                                       \
    CNresult name(void) {                                                                                                   \
        return refuse(Unsupported::name);                                                                                   \
    }
#include "conformance/emulators/cambricon/driver/unsupported.inc"
#undef U
}

} // namespace hbf::emulated::cn
