// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/images.hpp"

#include <iterator>

#include "kernels/device/images.inc" // made from -Dgpu_arch: IMAGES(X) names each, and includes the bytes of each

namespace hbf::kernels::device {
namespace {

[[maybe_unused]] std::string_view bytes_of(const unsigned char *begin, size_t size) {
    return {reinterpret_cast<const char *>(begin), size};
}

#define HBF_IMAGE(name) Image{#name, bytes_of(image_##name, sizeof image_##name)},
const Image list[] = {HBF_IMAGES(HBF_IMAGE) Image{}}; // the last is none

} // namespace

std::span<const Image> images() noexcept {
    return {list, std::size(list) - 1};
}

const Image *image_for(std::string_view architecture) noexcept {
    for (const Image &image : images())
        if (image.architecture == architecture) return &image;
    return nullptr;
}

} // namespace hbf::kernels::device
