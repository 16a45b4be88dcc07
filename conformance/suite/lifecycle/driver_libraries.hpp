// SPDX-License-Identifier: Apache-2.0
// Drivers' libraries by name: what a plugin opens with dlopen when it probes, and never links.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace hbf::conformance {

inline constexpr std::array<std::string_view, 23> driver_libraries = {
    "libcuda",    "libcudart",  "libnvidia", "libcufile", "libamdhip", "libhsa",    "librocm",   "libze_",
    "libOpenCL",  "libcnrt",    "libcndrv",  "libcndev",  "libascend", "libxpu",    "libmusa",   "libhl",
    "libSynapse", "libibverbs", "librdmacm", "libmlx",    "libcxl",    "libgdrapi", "libnvshmem"};

// By its file name, whatever folder stands before it.
constexpr bool of_a_driver(std::string_view library) {
    const size_t slash = library.rfind('/');
    const std::string_view name = library.substr(slash == std::string_view::npos ? 0 : slash + 1);
    return std::any_of(driver_libraries.begin(), driver_libraries.end(),
                       [&](std::string_view driver) { return name.starts_with(driver); });
}

} // namespace hbf::conformance
