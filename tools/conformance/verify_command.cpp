// SPDX-License-Identifier: Apache-2.0
// hbf conformance verify: is a package whole, unchanged, and does it show what it says?
#include <memory>

#include "conformance/report/package.hpp"
#include "conformance/runner/case_process.hpp"
#include "conformance/runner/filter.hpp"
#include "conformance/runner/profile.hpp"
#include "conformance/runner/programs.hpp"
#include "conformance/runner/record_json.hpp"
#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "tools/conformance/commands.hpp"

namespace hbf::tools {
namespace {

using namespace conformance;

// The cases that a run of the package's profile has to hold, as this version of the suite has them.
std::vector<std::string> cases_of(const std::string &profile) {
    const auto chosen_profile = profile_from(profile);
    const auto program = case_program();
    if (!chosen_profile || !program) return {};
    CaseProcess process;
    process.program = *program;
    const auto all = list_cases(process);
    if (!all) return {};
    const auto chosen = choose_cases(*all, {{}, {}, *chosen_profile});
    std::vector<std::string> out;
    if (chosen)
        for (const CaseEntry &entry : *chosen) out.push_back(entry.name);
    return out;
}

std::string verification_json(const std::string &package, const Verification &result) {
    Json findings = Json::array();
    for (const Finding &one : result.findings)
        findings.push(Json::object({{"kind", one.kind == Finding::bad    ? "bad"
                                             : one.kind == Finding::good ? "good"
                                                                         : "note"},
                                    {"text", one.text}}));
    return Json::object({{"schema_version", 1},
                         {"package", package},
                         {"readable", result.readable},
                         {"accepted", result.accepted()},
                         {"findings", findings}})
        .dump();
}

} // namespace

Command conformance_verify_command() {
    struct Flags {
        std::string package, signers;
        bool json = false;
    };
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "verify";
    command.summary = "check a package: edits, signature, completeness, and that its verdict follows from its cases";
    command.description = "Needs neither the device nor the plugin.";
    command.exits = {{Exit::pass, "the package is accepted"},
                     {Exit::fail, "the package is refused"},
                     {Exit::error, "the package cannot be read"}};
    command.examples =
        "  hbf conformance verify acme.tar.gz\n"
        "  hbf conformance verify acme.tar.gz --signers allowed_signers    signed by one of these, or refused\n";
    command.options = {
        {"PACKAGE", &flags->package, "PACKAGE", "what hbf conformance package made", true, "", Offer::files},
        {"--signers", &flags->signers, "FILE", "who may have signed it: an allowed_signers file of ssh-keygen(1)", false, "",
         Offer::files},
        {"--json", &flags->json, "", "one JSON document on stdout"},
    };
    command.run = [flags] {
        VerifyOptions options;
        options.signers = flags->signers;
        options.must_run_of = cases_of;
        const Verification result = verify_package(flags->package, options);
        print(flags->json ? verification_json(flags->package, result) : verification_text(result));
        return static_cast<int>(!result.readable ? Exit::error : result.accepted() ? Exit::pass : Exit::fail);
    };
    return command;
}

} // namespace hbf::tools
