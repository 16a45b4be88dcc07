// SPDX-License-Identifier: Apache-2.0
// hbf conformance mutants: does every case find the faults that it is there for?
#include <memory>

#include "conformance/mutants/command.hpp"
#include "core/output/stream.hpp"
#include "tools/conformance/commands.hpp"
#include "tools/offers.hpp"
#include "tools/signals.hpp"

namespace hbf::tools {

Command conformance_mutants_command() {
    struct Flags {
        conformance::MutantsCommand command;
        uint64_t jobs = 0, seed = 1;
    };
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "mutants";
    command.summary = "the suite's own proof: each planted fault is found by the case that must find it";
    command.description =
        "Runs each mutant, which is something whole with one thing made wrong, against the cases that must find it, and "
        "the same cases against the whole thing, which must pass. Devices are simulated or this host, or emulated ones "
        "below the vendors' own plugins.";
    command.exits = {{Exit::pass, "every mutant was found by every case that must find it"},
                     {Exit::fail, "one was not, or cases, catalogue and table disagree"},
                     {Exit::error, "some could not be tried: libraries that are wrong at load time are built, but not "
                                   "installed; a vendor's plugin or runtime is not built"}};
    command.examples = "  hbf conformance mutants                        about three minutes\n"
                       "  hbf conformance mutants --filter 'm0*'         some of them\n"
                       "  hbf conformance mutants --full --write FILE    every case on every mutant, as a table\n";
    command.options = {
        {"--filter", &flags->command.matrix.filter, "NAME",
         "only mutants of this name; '*' and '?' are wildcards; repeatable", false, "", Offer::by_name, mutant_names},
        {"--base", &flags->command.matrix.bases, "BASE",
         "only mutants of this: sim, host, variant, guard, 'emulated nvidia'; wildcards; repeatable"},
        {"--case", &flags->command.matrix.cases, "NAME", "only what cases of this name must find; wildcards; repeatable"},
        {"--list", &flags->command.list, "", "which mutants there are"},
        {"--full", &flags->command.matrix.full, "", "all cases on each mutant: who else finds it"},
        {"--golden", &flags->command.golden, "FILE", "table that the catalogue must agree with"},
        {"--write", &flags->command.write, "FILE", "write that table"},
        {"--seed", Number{&flags->seed}, "N", "base seed of the cases (default 1)"},
        {"--jobs", Number{&flags->jobs, 0, 256}, "N", "processes at once (default: one for each CPU)"},
        {"--json", &flags->command.json, "", "one JSON document on stdout"},
    };
    command.run = [flags] {
        auto &matrix = flags->command.matrix;
        matrix.seed = flags->seed;
        matrix.jobs = static_cast<unsigned>(flags->jobs);
        matrix.interrupted = [] { return interrupted(); };
        matrix.progress = [](const std::string &line) { show_progress(line); };
        const int status = conformance::run_mutants_command(flags->command);
        return interrupted() ? interrupted_exit_code() : status;
    };
    return command;
}

} // namespace hbf::tools
