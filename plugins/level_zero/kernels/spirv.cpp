// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/kernels/loader.hpp"

#ifdef HBF_SPIRV_IMAGE
#include HBF_SPIRV_IMAGE
#endif

namespace hbf::level_zero {

std::string_view spirv_image() noexcept {
#ifdef HBF_SPIRV_IMAGE
    return {reinterpret_cast<const char *>(image_spirv), sizeof image_spirv};
#else
    return {};
#endif
}

} // namespace hbf::level_zero
