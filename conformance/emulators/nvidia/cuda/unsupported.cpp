// SPDX-License-Identifier: Apache-2.0
// Reference, enum cudaError_enum: CUDA_ERROR_NOT_SUPPORTED "indicates that the attempted operation is not supported on the
// current system". Parameters are not looked at, so each function is declared without: callers pass theirs in registers and
// on a stack that they clear themselves.
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

enum class Unsupported : size_t {
    before = static_cast<size_t>(Call::first_unsupported) - 1,
#define U(symbol) symbol,
#include "conformance/emulators/nvidia/cuda/unsupported.inc"
#undef U
};

CUresult not_supported(Unsupported function) {
    calls().count(static_cast<size_t>(function));
    const CUresult no = always_answered();
    return no ? no : NOT_SUPPORTED;
}

} // namespace

extern "C" {
#define U(symbol)                                                                                                           \
    HBF_EXPORTED CUresult symbol(void);                                                                                     \
    CUresult symbol(void) {                                                                                                 \
        return not_supported(Unsupported::symbol);                                                                          \
    }
#include "conformance/emulators/nvidia/cuda/unsupported.inc"
#undef U
} // extern "C"

} // namespace hbf::emulated::cuda
