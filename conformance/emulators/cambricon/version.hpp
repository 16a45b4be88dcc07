// SPDX-License-Identifier: Apache-2.0
// The versions that Cambricon's libraries say: those of the machine's profile, or what a fault makes of them.
#pragma once

namespace hbf::emulated {

struct Version {
    int major, minor, patch;
};
// [vendor.cambricon] KEY of the profile, "6.14.1". Under old-driver (value: the major number) and garbage-version another.
Version cambricon_version(const char *key, const char *otherwise) noexcept;

} // namespace hbf::emulated
