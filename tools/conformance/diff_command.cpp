// SPDX-License-Identifier: Apache-2.0
// hbf conformance diff: what a new driver, or another machine, changed.
#include <memory>

#include "conformance/report/diff.hpp"
#include "core/output/stream.hpp"
#include "tools/conformance/commands.hpp"

namespace hbf::tools {

Command conformance_diff_command() {
    struct Flags {
        std::string before, after;
        double tolerance = 2;
        bool json = false;
    };
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "diff";
    command.summary = "what changed between two recorded runs";
    command.description = "Reads two reports of \"hbf conformance --json\". A figure has changed only if the ratio of the "
                          "two lies beyond the tolerance with its whole confidence interval; figures without an interval "
                          "are counted, not compared.";
    command.exits = {{Exit::pass, "nothing got worse"},
                     {Exit::fail, "something got worse"},
                     {Exit::error, "the runs cannot be read or compared"}};
    command.examples = "  hbf conformance diff before.json after.json        after a driver upgrade\n"
                       "  hbf conformance diff a.json b.json --tolerance 5   figures count from 5 % on\n";
    command.options = {
        {"BEFORE", &flags->before, "BEFORE", "report of the earlier run", true, "", Offer::files},
        {"AFTER", &flags->after, "AFTER", "report of the later run", true, "", Offer::files},
        {"--tolerance", Real{&flags->tolerance, 0, 100}, "PERCENT", "change of a figure that does not count (default 2)"},
        {"--json", &flags->json, "", "one JSON document on stdout"},
    };
    command.run = [flags] {
        const auto before = read_run(flags->before), after = read_run(flags->after);
        for (const auto *run : {&before, &after})
            if (!*run) {
                print_error("hbf conformance diff: " + run->error());
                return static_cast<int>(Exit::error);
            }
        const auto comparison = conformance::compare(*before, *after, flags->tolerance / 100);
        print(flags->json ? conformance::comparison_json(comparison) : conformance::comparison_text(comparison));
        return conformance::exit_code(comparison);
    };
    return command;
}

} // namespace hbf::tools
