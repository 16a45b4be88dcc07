// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "plugins/amd/kernels/architecture.hpp"

namespace hbf::amd {
namespace {

std::string struct_with(std::string_view name, size_t at, size_t size) {
    std::string bytes(size, '\0');
    bytes.replace(0, 4, "AMD ");
    return bytes.replace(at, name.size(), name);
}

TEST(Architecture, IsFoundWhereverTheStructHasIt) {
    EXPECT_EQ(architecture_in(struct_with("gfx90a:sramecc+:xnack-", 396, 792)), "gfx90a:sramecc+:xnack-");
    EXPECT_EQ(architecture_in(struct_with("gfx942:sramecc+:xnack-", 1160, 1472)), "gfx942:sramecc+:xnack-");
    EXPECT_EQ(architecture_in(struct_with("gfx1100", 7, 2000)), "gfx1100");
}

TEST(Architecture, WhatOnlyLooksLikeOneIsNone) {
    for (const std::string_view bad : {"gfx", "gfx9", "gfx12", "gfx942:", "gfx942:xnack", "gfx942 and more", "gfxwhatever"})
        EXPECT_EQ(architecture_in(struct_with(bad, 100, 800)), "") << bad;
    EXPECT_EQ(architecture_in(std::string("gfx942")), "") << "not ended";
    EXPECT_EQ(architecture_in(""), "");
}

TEST(Architecture, TheDevicesNameComesBeforeIt) {
    std::string bytes = struct_with("gfx90a:xnack+", 600, 800);
    bytes.replace(0, 7, "gfx9000");
    EXPECT_EQ(architecture_in(bytes), "gfx90a:xnack+");
}

} // namespace
} // namespace hbf::amd
