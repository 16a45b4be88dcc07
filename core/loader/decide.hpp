// SPDX-License-Identifier: Apache-2.0
// Who of those that can serve does serve: all of them, one of a name, and no emulation beside a real device.
#pragma once

#include <vector>

#include "core/loader/examine.hpp"

namespace hbf::loader {

// Sorts `entries` into their final order and gives each viable one its reason: selected, outranked or duplicate_name.
void decide(std::vector<Entry> &entries);

// An error naming the first pinned plugin that was not selected, with its reason.
Result<> check_pins(const std::vector<Entry> &entries, const NameList &pins);

} // namespace hbf::loader
