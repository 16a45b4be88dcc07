// SPDX-License-Identifier: Apache-2.0
// What stands in a PCI device's own registers. Each answer is empty where it cannot be told, and the doubt said.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {

// Does a bridge send requests or completions between its devices up to the root complex? False also if it cannot.
std::optional<bool> acs_redirect(Look &look, const Pci &bridge);

std::optional<bool> relaxed_ordering(Look &look, const Pci &device);

std::optional<std::vector<uint64_t>> region_sizes(Look &look, const Pci &device); // of its six regions, 0: not used

} // namespace hbf::tools::doctor
