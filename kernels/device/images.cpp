// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/images.hpp"

#include <array>

#include "kernels/device/images.inc" // made from -Dgpu_arch: IMAGES(X) names each, and includes the bytes of each

namespace hbf::kernels::device {
namespace {

[[maybe_unused]] std::string_view bytes_of(const unsigned char *begin, size_t size) {
    return {reinterpret_cast<const char *>(begin), size};
}

#define HBF_IMAGE(name) Image{#name, bytes_of(image_##name, sizeof image_##name)},
#define HBF_ONE(name) +1
const std::array<Image, 0 HBF_IMAGES(HBF_ONE)> list{HBF_IMAGES(HBF_IMAGE)};

} // namespace

std::span<const Image> images() noexcept {
    return list;
}

const Image *image_for(std::string_view architecture) noexcept {
    for (const Image &image : list)
        if (image.architecture == architecture) return &image;
    return nullptr;
}

} // namespace hbf::kernels::device
