// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> select() {
    return {
        {.name = "host_rank_not_total",
         .description = "plugins that rank alike come in another order at every second selection",
         .base = Base::guard,
         .variant = "rank_not_total",
         .killers = {"select.same_order_100_runs"}},
        {.name = "host_rank_by_name",
         .description = "priority and version do not count in the order of plugins",
         .base = Base::guard,
         .variant = "rank_by_name",
         .killers = {"select.same_order_100_runs"}},
        {.name = "host_reason_lost",
         .description = "a driver that is a stub is reported as no device",
         .base = Base::guard,
         .variant = "reason_lost",
         .killers = {"select.reason_for_every_candidate"}},
        {.name = "host_reason_unsaid",
         .description = "a driver that is too old is reported without a sentence",
         .base = Base::guard,
         .variant = "reason_unsaid",
         .killers = {"select.reason_for_every_candidate"}},
        {.name = "host_policy_ignored",
         .description = "the lists of plugins allowed and denied are not asked",
         .base = Base::guard,
         .variant = "policy_ignored",
         .killers = {"select.reason_for_every_candidate.by_policy"}},
        {.name = "host_probes_in_process",
         .description = "plugins are opened in the host's process before their probe",
         .base = Base::guard,
         .variant = "probes_in_process",
         .killers = {"select.crashing_plugin_does_not_hide_others"}},
        {.name = "host_crash_ends_search",
         .description = "what comes after a plugin that crashed is not looked at",
         .base = Base::guard,
         .variant = "crash_ends_search",
         .killers = {"select.crashing_plugin_does_not_hide_others"}},
    };
}

} // namespace hbf::conformance::catalogue
