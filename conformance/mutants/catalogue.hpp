// SPDX-License-Identifier: Apache-2.0
// The mutants of each group, as all_mutants() lists them.
#pragma once

#include <vector>

#include "conformance/mutants/mutant.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> abi();
std::vector<Mutant> agents();
std::vector<Mutant> async();
std::vector<Mutant> bandwidth();
std::vector<Mutant> coherence();
std::vector<Mutant> dma();
std::vector<Mutant> emulated();
std::vector<Mutant> integrity();
std::vector<Mutant> kernels();
std::vector<Mutant> lifecycle();
std::vector<Mutant> security();
std::vector<Mutant> select();
std::vector<Mutant> threads();
std::vector<Mutant> tier();

} // namespace hbf::conformance::catalogue
