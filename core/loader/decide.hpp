// SPDX-License-Identifier: Apache-2.0
// Who of those that can serve does serve: all of them, one of a name, and no emulation beside a real device.
#pragma once

#include <vector>

#include "core/loader/examine.hpp"

namespace hbf::loader {

// The plugin's own order kept within each sort: those that open first, real before emulated, accelerators before CPUs.
void rank_devices(std::vector<ProbedDevice> &devices);

// Sorts `entries` into their final order and gives each viable one its reason, and each of its devices: selected, outranked
// or duplicate_name. Beside a real device nothing emulated serves unless it is pinned, nor do this machine's CPUs through a
// runtime made for devices: the same memory would count twice.
void decide(std::vector<Entry> &entries);

// An error naming the first pinned plugin that was not selected, with its reason.
Result<> check_pins(const std::vector<Entry> &entries, const NameList &pins);

} // namespace hbf::loader
