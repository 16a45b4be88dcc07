// SPDX-License-Identifier: Apache-2.0
// hbf conformance statement, package: a recorded run made ready to be handed in.
#include <memory>

#include <fmt/format.h>

#include "conformance/report/package.hpp"
#include "core/common/read_file.hpp"
#include "core/output/file.hpp"
#include "core/output/json.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "tools/conformance/commands.hpp"

namespace hbf::tools {
namespace {

int refuse(const std::string &command, Exit exit, const std::string &why) {
    print_error("hbf conformance " + command + ": " + why);
    return static_cast<int>(exit);
}

} // namespace

Command conformance_statement_command() {
    auto report = std::make_shared<std::string>();
    Command command;
    command.name = "statement";
    command.summary = "print the statement that goes with a package, filled in as far as a run knows";
    command.examples = "  hbf conformance statement run.json > statement.toml\n";
    command.options = {{"REPORT", report.get(), "REPORT", "what hbf conformance --json wrote", true, "", Offer::files}};
    command.run = [report] {
        const auto run = read_run(*report);
        if (!run) return refuse("statement", Exit::error, run.error());
        print(conformance::statement_template(*run));
        return static_cast<int>(Exit::pass);
    };
    return command;
}

Command conformance_package_command() {
    struct Flags {
        std::string report, statement, output, key;
        bool json = false;
    };
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "package";
    command.summary = "make a package of a recorded run: all reports, logs, statement, sums, signature";
    command.exits = {{Exit::pass, "the package is written, whatever the run's verdict"}};
    command.description = "The package is checked by \"hbf conformance verify\", which needs no device.";
    command.examples =
        "  hbf conformance package run.json --statement statement.toml -o acme.tar.gz\n"
        "  hbf conformance package run.json --statement statement.toml -o acme.tar.gz --sign ~/.ssh/id_ed25519\n";
    command.options = {
        {"REPORT", &flags->report, "REPORT", "what hbf conformance --json wrote", true, "", Offer::files},
        {"--statement", &flags->statement, "FILE", "who hands it in (see hbf conformance statement)", true},
        {"-o,--output", &flags->output, "FILE", "the package, a .tar.gz", true},
        {"--sign", &flags->key, "KEY", "key of ssh to sign with (a file; ssh-keygen asks for its passphrase)", false, "",
         Offer::files},
        {"--json", &flags->json, "", "one JSON document on stdout: name, size and verdict"},
    };
    command.run = [flags] {
        if (const auto ready = check_writable(flags->output); !ready) return refuse("package", Exit::error, ready.error());
        const auto run = read_run(flags->report);
        if (!run) return refuse("package", Exit::error, run.error());
        const auto statement = read_file(flags->statement, 1 << 20);
        if (!statement) return refuse("package", Exit::error, statement.error().message);
        const auto bytes = conformance::make_package(*run, *statement, flags->key);
        if (!bytes) return refuse("package", Exit::error, bytes.error());
        if (const auto written = write_file(flags->output, *bytes); !written)
            return refuse("package", Exit::error, written.error());
        if (flags->json) {
            print(Json::object({{"schema_version", 1},
                                {"package", flags->output},
                                {"bytes", bytes->size()},
                                {"signed", !flags->key.empty()},
                                {"verdict", run->verdict}})
                      .dump());
            return static_cast<int>(Exit::pass);
        }
        print(fmt::format("{} ({}{}), the run is {}\n", flags->output, format_size(bytes->size()),
                          flags->key.empty() ? ", not signed" : ", signed", run->verdict));
        return static_cast<int>(Exit::pass);
    };
    return command;
}

} // namespace hbf::tools
