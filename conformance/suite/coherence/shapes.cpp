// SPDX-License-Identifier: Apache-2.0
// The litmus shapes between CPU threads, each a case: on memory that is declared coherent the C++ contract holds. What a
// stronger machine does beyond it is recorded, not judged.
#include "conformance/suite/coherence/litmus_run.hpp"

// why_unproven, then the mutants to kill
#define HBF_ANY_SHAPE_CASE(case_name, shape_name, why_unproven, ...)                                                        \
    HBF_CASE(case_name, {.rules = {"HBF-COH-1"},                                                                            \
                         .kills = {__VA_ARGS__},                                                                            \
                         .needs = need::cpu_tier | need::coherence | need::hardware_domain,                                 \
                         .budget_s = 0.15,                                                                                  \
                         .limit_s = 40,                                                                                     \
                         .unproven = why_unproven}) {                                                                       \
        coherence::run_shape(context, shape_name);                                                                          \
    }
#define HBF_SHAPE_CASE(case_name, shape_name) HBF_ANY_SHAPE_CASE(case_name, shape_name, "", "stale_writeback")
#define HBF_WIDE_SHAPE_CASE(case_name, shape_name)                                                                          \
    HBF_ANY_SHAPE_CASE(case_name, shape_name,                                                                               \
                       "not observable where mutants are run: its agents need more than two CPUs at the same time", )

namespace hbf::conformance {

// One location: everyone agrees on the order of its values.
HBF_SHAPE_CASE("coherence.litmus.corr", "CoRR")
HBF_SHAPE_CASE("coherence.litmus.coww", "CoWW")
HBF_SHAPE_CASE("coherence.litmus.cowr", "CoWR")
HBF_SHAPE_CASE("coherence.litmus.corw", "CoRW")
// Two: who sees the flag sees the payload, also one written past the caches.
HBF_SHAPE_CASE("coherence.litmus.mp_release_acquire", "MP.rel.acq")
HBF_SHAPE_CASE("coherence.litmus.mp_streaming_fence", "MP.stream.fence")
HBF_SHAPE_CASE("coherence.litmus.sb_seq_cst", "SB.sc")
HBF_SHAPE_CASE("coherence.litmus.sb_fence", "SB.fence")
HBF_SHAPE_CASE("coherence.litmus.lb_acquire_release", "LB.acq.rel")
HBF_SHAPE_CASE("coherence.litmus.s_release_acquire", "S.rel.acq")
HBF_SHAPE_CASE("coherence.litmus.r_seq_cst", "R.sc")
HBF_SHAPE_CASE("coherence.litmus.two_writes_twice_seq_cst", "2+2W.sc")
// Three agents, and four.
HBF_WIDE_SHAPE_CASE("coherence.litmus.wrc_release_acquire", "WRC.rel.acq")
HBF_WIDE_SHAPE_CASE("coherence.litmus.isa2_release_acquire", "ISA2.rel.acq")
HBF_WIDE_SHAPE_CASE("coherence.litmus.iriw_seq_cst", "IRIW.sc")

} // namespace hbf::conformance
