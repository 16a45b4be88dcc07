// SPDX-License-Identifier: Apache-2.0
// Parts of the catalogue's group "emulated".
#pragma once

#include <utility>
#include <vector>

#include "conformance/mutants/mutant.hpp"

namespace hbf::conformance::catalogue {

Mutant on_machine(std::string_view vendor, std::string_view machine, Mutant mutant);
inline Mutant on_a100(Mutant mutant) {
    return on_machine("nvidia", "a100", std::move(mutant));
}
inline Mutant on_mi300x(Mutant mutant) {
    return on_machine("amd", "mi300x", std::move(mutant));
}
inline Mutant on_mlu370(Mutant mutant) {
    return on_machine("cambricon", "mlu370", std::move(mutant));
}
inline Mutant on_l0(Mutant mutant) {
    return on_machine("level_zero", "l0", std::move(mutant));
}

void add_misread_contracts(std::vector<Mutant> &out); // a runtime's documents taken for something else
void add_bad_runtimes(std::vector<Mutant> &out);      // a runtime, or a device, that cannot be used: the reason is said

} // namespace hbf::conformance::catalogue
