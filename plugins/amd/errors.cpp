// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/errors.hpp"

#include <fmt/format.h>

#include "plugins/amd/library.hpp"

namespace hbf::amd {

std::string error_text(Code code) {
    const char *const name = library().hip.GetErrorName(code);
    return fmt::format("{} ({})", name && *name ? name : "an unknown error", code);
}

hbf_status error_status(Code code, bool ran) noexcept {
    switch (code) {
    case code::success:
        return HBF_OK;
    case code::out_of_memory:
    case code::launch_out_of_resources:
        return HBF_EXHAUSTED;
    case code::ecc_uncorrectable:
        return HBF_DATA_LOSS;
    case code::not_supported:
    case code::peer_access_unsupported:
    case code::insufficient_driver:
        return HBF_UNSUPPORTED;
    case code::not_permitted:
        return HBF_PERMISSION;
    case code::no_device:
    case code::not_initialized:
    case code::no_binary_for_gpu:
    case code::invalid_image:
    case code::shared_object_init_failed:
    case code::not_found:
        return ran ? HBF_DEVICE_LOST : HBF_UNAVAILABLE;
    // After one of these, nothing works on the device in this process any more.
    case code::deinitialized:
    case code::invalid_device:
    case code::illegal_address:
    case code::launch_timeout:
    case code::context_destroyed:
    case code::assertion:
    case code::launch_failure:
    case code::runtime_memory:
    case code::runtime_other:
        return HBF_DEVICE_LOST;
    default:
        return ran && code == code::unknown ? HBF_DEVICE_LOST : HBF_INTERNAL;
    }
}

void check(Code code, std::string_view what) {
    if (taken(code) != code::success) sdk::fail(error_status(code), fmt::format("{}: {}", what, error_text(code)));
}

Code taken(Code code) noexcept {
    if (code != code::success) (void)library().hip.GetLastError();
    return code;
}

} // namespace hbf::amd
