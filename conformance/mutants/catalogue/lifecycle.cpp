// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> lifecycle() {
    return {
        {.name = "m38_ctor_sigill",
         .description = "loading the library executes an instruction that there is not",
         .base = Base::variant,
         .variant = "ctor_sigill",
         .killers = {"lifecycle.load.changes_nothing"}},
        {.name = "load_changes_process",
         .description = "loading the library sets an environment variable",
         .base = Base::variant,
         .variant = "ctor_sets_environment",
         .killers = {"lifecycle.load.changes_nothing"}},
        {.name = "load_prints",
         .description = "loading the library prints a line",
         .base = Base::variant,
         .variant = "ctor_prints",
         .killers = {"lifecycle.load.changes_nothing"}},
        {.name = "exit_crashes",
         .description = "the library's destructor crashes when the process ends",
         .base = Base::variant,
         .variant = "dtor_crashes",
         .killers = {"lifecycle.load.changes_nothing"}},
        {.name = "exit_hangs",
         .description = "the process does not end while an instance is there",
         .base = Base::variant,
         .variant = "dtor_hangs",
         .killers = {"lifecycle.process_exit_without_shutdown"}},
        {.name = "linked_to_driver",
         .description = "the library is linked with a driver's",
         .base = Base::variant,
         .variant = "linked_to_driver",
         .killers = {"lifecycle.load.without_driver"}},
        {.name = "own_search_path",
         .description = "the library has a search path of its own",
         .base = Base::variant,
         .variant = "own_search_path",
         .killers = {"lifecycle.load.without_driver"}},
        {.name = "can_be_unloaded",
         .description = "the library is unloaded when it is closed",
         .base = Base::variant,
         .variant = "can_be_unloaded",
         .killers = {"lifecycle.load.stays"}},
        {.name = "bound_late",
         .description = "symbols are looked up at their first use",
         .base = Base::variant,
         .variant = "bound_late",
         .killers = {"lifecycle.load.stays"}},
    };
}

} // namespace hbf::conformance::catalogue
