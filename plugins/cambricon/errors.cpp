// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/errors.hpp"

#include <fmt/format.h>

namespace hbf::cambricon {
namespace {

std::string_view printable(const char *text) {
    return text && *text ? std::string_view(text).substr(0, 120) : std::string_view();
}

// For runtimes without cnrtGetErrorName.
std::string_view name_of(int code) {
    switch (code) {
    case code::no_device:
        return "no device";
    case code::ecc_uncorrectable:
        return "uncorrectable ECC error";
    case code::driver_mismatch:
        return "library and kernel driver do not fit together";
    case code::no_memory:
        return "out of memory";
    case code::device:
        return "device error";
    default:
        return "error";
    }
}

} // namespace

std::string error_text(const Cnrt &cnrt, int code) {
    std::string_view name = cnrt.GetErrorName ? printable(cnrt.GetErrorName(code)) : std::string_view();
    if (name.empty()) name = name_of(code);
    const std::string_view words = cnrt.GetErrorStr ? printable(cnrt.GetErrorStr(code)) : std::string_view();
    return words.empty() || words == name ? fmt::format("{} ({})", name, code)
                                          : fmt::format("{} ({}): {}", name, code, words);
}

hbf_status error_status(int code, bool ran) noexcept {
    switch (code) {
    case code::success:
        return HBF_OK;
    case code::no_device:
    case code::device_invalid:
        return ran ? HBF_DEVICE_LOST : HBF_UNAVAILABLE;
    case code::device:
    case code::deinitialized:
    case code::system_not_ready:
    case code::timeout: // the driver gave the device up
    case code::system:  // its kernel part answers no more
        return HBF_DEVICE_LOST;
    case code::system_no_memory:
    case code::out_of_resources:
    case code::no_memory:
    case code::over_process_limit:
        return HBF_EXHAUSTED;
    case code::ecc_uncorrectable:
        return HBF_DATA_LOSS;
    case code::not_permitted:
        return HBF_PERMISSION;
    case code::not_supported:
    case code::driver_function_missing:
    case code::driver_mismatch:
    case code::compatibility:
        return HBF_UNSUPPORTED;
    default:
        return HBF_INTERNAL;
    }
}

void check(const Cnrt &cnrt, int code, std::string_view what) {
    if (code != code::success) sdk::fail(error_status(code, false), fmt::format("{}: {}", what, error_text(cnrt, code)));
}

} // namespace hbf::cambricon
