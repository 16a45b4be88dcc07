// SPDX-License-Identifier: Apache-2.0
// What a plugin declares about its devices and tiers, read in one way by all who ask: the probe, before a plugin is chosen,
// and the fabric, when a device is opened.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "core/common/printable.hpp"
#include "hbf/abi/plugin.h"
#include "hbf/abi/tier.h"
#include "hbf/selection.hpp"
#include "hbf/tier.hpp"

namespace hbf {

// A text field of fixed size, up to its NUL or its end: as it stands, and made fit to be shown.
template <size_t N>
std::string raw_text(const char (&field)[N]) {
    return std::string(field, strnlen(field, N));
}
template <size_t N>
std::string shown_text(const char (&field)[N]) {
    return printable({field, strnlen(field, N)});
}

// What a describe function is given to fill: where it says nothing, there is no node, no domain and no other tier.
hbf_tier_info unfilled_tier();

// Without tiers. Real is only what says so. The id as it stands, since the plugin is asked for it again; other texts
// printable.
ProbedDevice device_declared(const hbf_device_info &info);

// Real is only what says so itself and lies in a device that does: no figure of another may pass for hardware's.
TierInfo tier_declared(uint32_t index, const hbf_tier_info &info, bool device_emulated);

} // namespace hbf
