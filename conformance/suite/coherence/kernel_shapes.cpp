// SPDX-License-Identifier: Apache-2.0
// Litmus shapes of which agents are groups of one launch, each a case: between groups, as the orders of C11 within the
// device promise; between a kernel and the host at the same time, where a domain declares atomics of both.
#include "conformance/suite/coherence/kernel_runner.hpp"

// Roles, then the mutants to kill
#define HBF_KERNEL_SHAPE_CASE(case_name, shape_name, wanted, why_unproven, roles, ...)                                      \
    HBF_CASE(case_name, {.rules = {"HBF-COH-4"},                                                                            \
                         .kills = {__VA_ARGS__},                                                                            \
                         .needs = wanted,                                                                                   \
                         .budget_s = 0.1,                                                                                   \
                         .limit_s = 90,                                                                                     \
                         .unproven = why_unproven}) {                                                                       \
        coherence::run_kernel_shape(context, shape_name, coherence::Roles roles);                                           \
    }
#define HBF_COMMA ,
#define HBF_GROUPS_CASE(case_name, shape_name)                                                                              \
    HBF_KERNEL_SHAPE_CASE(case_name, shape_name, need::launch, "", {0 HBF_COMMA 2}, "kernel_words_written_back")
#define HBF_WIDE_GROUPS_CASE(case_name, shape_name, agents)                                                                 \
    HBF_KERNEL_SHAPE_CASE(case_name, shape_name, need::launch,                                                              \
                          "not observable where mutants are run: its groups need more than two CPUs at the same time",      \
                          {0 HBF_COMMA agents}, )
#define HBF_HOST_KERNEL_CASE(case_name, shape_name, kernel, other)                                                          \
    HBF_KERNEL_SHAPE_CASE(case_name, shape_name, need::cpu_tier | need::coherence | need::atomics | need::launch, "",       \
                          {kernel HBF_COMMA 1 HBF_COMMA true HBF_COMMA other}, "shared_words_written_back")

namespace hbf::conformance {

// Two groups. One location, then two.
HBF_GROUPS_CASE("coherence.kernel_kernel.corr", "CoRR")
HBF_GROUPS_CASE("coherence.kernel_kernel.coww", "CoWW")
HBF_GROUPS_CASE("coherence.kernel_kernel.mp_release_acquire", "MP.rel.acq")
HBF_GROUPS_CASE("coherence.kernel_kernel.sb_seq_cst", "SB.sc")
HBF_GROUPS_CASE("coherence.kernel_kernel.lb_acquire_release", "LB.acq.rel")
HBF_GROUPS_CASE("coherence.kernel_kernel.two_writes_twice_seq_cst", "2+2W.sc")
// Three, and four.
HBF_WIDE_GROUPS_CASE("coherence.kernel_kernel.wrc_release_acquire", "WRC.rel.acq", 3)
HBF_WIDE_GROUPS_CASE("coherence.kernel_kernel.iriw_seq_cst", "IRIW.sc", 4)

// A kernel and a thread of the host.
HBF_HOST_KERNEL_CASE("coherence.host_kernel.corr_kernel_loads", "CoRR", 1, 0)
HBF_HOST_KERNEL_CASE("coherence.host_kernel.corr_host_loads", "CoRR", 0, 1)
HBF_HOST_KERNEL_CASE("coherence.host_kernel.mp_to_kernel", "MP.rel.acq", 1, 0)
HBF_HOST_KERNEL_CASE("coherence.host_kernel.mp_to_host", "MP.rel.acq", 0, 1)
HBF_HOST_KERNEL_CASE("coherence.host_kernel.sb_seq_cst", "SB.sc", 1, 0)

} // namespace hbf::conformance
