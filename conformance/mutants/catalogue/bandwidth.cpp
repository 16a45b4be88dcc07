// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> bandwidth() {
    return {
        {.name = "m31_bandwidth_overstated",
         .description = "tiers declare ten terabytes a second",
         .fault = "bandwidth-overstated",
         .killers = {"bandwidth.h2d.sequential_meets_declared", "bandwidth.d2h.sequential_meets_declared",
                     "bandwidth.bidirectional.sequential_meets_declared"}},
        {.name = "m32_throughput_throttled",
         .description = "copies take hundreds of times as long as the tiers declare",
         .fault = "bandwidth-overstated,bps=1000000000;throttled,bps=4000000",
         .killers = {"bandwidth.h2d.sequential_meets_declared", "bandwidth.d2h.sequential_meets_declared",
                     "bandwidth.bidirectional.sequential_meets_declared"}},
        {.name = "bandwidth_understated",
         .description = "tiers declare ten kilobytes a second as their most",
         .fault = "bandwidth-overstated,bps=10000",
         .killers = {"bandwidth.h2d.sequential_meets_declared", "bandwidth.d2h.sequential_meets_declared",
                     "bandwidth.bidirectional.sequential_meets_declared", "bandwidth.copy.small_block_4k_rate"}},
        {.name = "latency_understated",
         .description = "tiers declare 100 ns, and a copy takes a tenth of a second",
         .fault = "latency-understated;throttled,us=120000",
         .killers = {"bandwidth.copy.latency_p99"}},
    };
}

} // namespace hbf::conformance::catalogue
