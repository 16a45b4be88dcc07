// SPDX-License-Identifier: Apache-2.0
// Kernels compiled when this was built, for the architectures of -Dgpu_arch. Where there is no image for a device, its
// plugin has the catalogue's text compiled at run time.
#pragma once

#include <span>
#include <string_view>

namespace hbf::kernels::device {

struct Image {
    std::string_view architecture; // "sm_90", "gfx942": as a cubin or an AMD code object; "spirv"
    std::string_view bytes;        // every kernel of the catalogue, each under its `function`; aligned to 64 bytes
};

std::span<const Image> images() noexcept;
const Image *image_for(std::string_view architecture) noexcept; // nullptr if there is none

} // namespace hbf::kernels::device
