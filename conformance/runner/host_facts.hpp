// SPDX-License-Identifier: Apache-2.0
// The machine of a run, from its inventory: what a report shows of it, and what it counts of errors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/runner/record.hpp"
#include "hbf/inventory.hpp"

namespace hbf::conformance {

Facts host_facts(const Inventory &inventory);

// EDAC and AER, as far as this machine counts them: "host.edac_ce". A counter that cannot be read is left out.
std::vector<std::pair<std::string, uint64_t>> host_health(const Inventory &inventory);

// "edac.ue_count 0 -> 2", a line for each that grew, or is gone.
std::vector<std::string> health_changes(const std::vector<std::pair<std::string, uint64_t>> &before,
                                        const std::vector<std::pair<std::string, uint64_t>> &after);

} // namespace hbf::conformance
