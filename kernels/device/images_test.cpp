// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include "kernels/device/catalogue.hpp"
#include "kernels/device/images.hpp"

namespace hbf::kernels::device {
namespace {

TEST(Images, EachHoldsEveryKernel) {
    if (images().empty()) GTEST_SKIP() << "configured without -Dgpu_arch";
    for (const Image &image : images()) {
        EXPECT_EQ(image_for(image.architecture), &image);
        const std::string_view magic(image.architecture == "spirv" ? "\x03\x02\x23\x07" : "\177ELF");
        EXPECT_EQ(image.bytes.substr(0, 4), magic) << image.architecture;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(image.bytes.data()) % 64, 0u);
        for (const Kernel &kernel : catalogue())
            EXPECT_NE(image.bytes.find(kernel.function), std::string_view::npos) << image.architecture << " " << kernel.name;
    }
}

TEST(Images, NoneForAnArchitectureThatWasNotAskedFor) {
    EXPECT_EQ(image_for("sm_1"), nullptr);
    EXPECT_EQ(image_for(""), nullptr);
}

} // namespace
} // namespace hbf::kernels::device
