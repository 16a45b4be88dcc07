// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> security() {
    return {};
}

} // namespace hbf::conformance::catalogue
