// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> dma() {
    return {
        {.name = "m02_drop_tail",
         .description = "the last byte of a copy is not written",
         .fault = "drop-tail,bytes=1",
         .killers = {"dma.copy.h2d.every_length_0_to_4096"}},
    };
}

} // namespace hbf::conformance::catalogue
