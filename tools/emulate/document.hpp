// SPDX-License-Identifier: Apache-2.0
// What hbf emulate has, as JSON: its machines and the faults that can be planted in them.
#pragma once

#include <string>
#include <vector>

#include "conformance/sim/model/faults.hpp"
#include "conformance/sim/model/profile.hpp"

namespace hbf::tools::emulate {

// {"schema": "hbf.emulate.machines", "machines": [{"name", "usable": true, "title", "devices": [...], "links": [...]}]}; one
// that cannot be read has "usable": false and "trouble".
std::string machines_json(const std::vector<std::string> &names);
// {"schema": "hbf.emulate.faults", "faults": [{"name", "acts_in", "what"}]}
std::string faults_json();

} // namespace hbf::tools::emulate
