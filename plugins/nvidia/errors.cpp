// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/errors.hpp"

#include <fmt/format.h>

namespace hbf::nvidia {

std::string error_text(const Driver &cuda, cuda::Result code) {
    const char *name = nullptr, *words = nullptr;
    if (!cuda.GetErrorName || cuda.GetErrorName(code, &name) != cuda::success || !name) name = "an unknown error";
    if (!cuda.GetErrorString || cuda.GetErrorString(code, &words) != cuda::success) words = nullptr;
    return words ? fmt::format("{} ({}): {}", name, code, words) : fmt::format("{} ({})", name, code);
}

bool sticky(cuda::Result code) noexcept {
    switch (code) {
    case cuda::ecc_uncorrectable:
    case cuda::nvlink_uncorrectable:
    case cuda::contained:
    case cuda::illegal_address:
    case cuda::launch_timeout:
    case cuda::context_destroyed:
    case 710: // assert
    case 714: // hardware stack
    case 715: // illegal instruction
    case 716: // misaligned address
    case 717: // invalid address space
    case 718: // invalid program counter
    case cuda::launch_failed:
    case cuda::mps_rpc:
    case cuda::mps_terminated:
    case cuda::unknown:
        return true;
    default:
        return false;
    }
}

hbf_status error_status(cuda::Result code) noexcept {
    if (sticky(code)) return HBF_DEVICE_LOST;
    switch (code) {
    case cuda::success:
        return HBF_OK;
    case cuda::out_of_memory:
    case cuda::launch_out_of_resources:
        return HBF_EXHAUSTED;
    case cuda::not_initialized:
    case cuda::stub_library:
    case cuda::no_device:
    case cuda::invalid_device:
    case cuda::device_not_licensed:
    case cuda::invalid_image:
    case cuda::no_binary:
    case cuda::invalid_ptx:
    case cuda::unsupported_ptx:
    case cuda::system_not_ready:
    case cuda::mps_failed:
    case cuda::mps_not_ready:
        return HBF_UNAVAILABLE;
    case cuda::deinitialized:
        return HBF_DEVICE_LOST;
    case cuda::device_unavailable:
    case cuda::mps_clients:
    case cuda::mps_connections:
    case cuda::host_already_registered:
        return HBF_BUSY;
    case cuda::not_permitted:
        return HBF_PERMISSION;
    case cuda::not_supported:
    case cuda::driver_mismatch:
    case cuda::compat_unsupported:
        return HBF_UNSUPPORTED;
    default:
        return HBF_INTERNAL;
    }
}

void check(const Driver &cuda, cuda::Result code, std::string_view what) {
    if (code != cuda::success) sdk::fail(error_status(code), fmt::format("{}: {}", what, error_text(cuda, code)));
}

} // namespace hbf::nvidia
