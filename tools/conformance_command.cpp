// SPDX-License-Identifier: Apache-2.0
// hbf conformance: does a plugin keep to its rules?
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "conformance/inject/fault.hpp"
#include "conformance/report/report.hpp"
#include "conformance/runner/case_process.hpp"
#include "conformance/runner/case_text.hpp"
#include "conformance/runner/profile.hpp"
#include "conformance/runner/programs.hpp"
#include "conformance/runner/run.hpp"
#include "conformance/runner/seed.hpp"
#include "conformance/runner/self_test.hpp"
#include "core/output/file.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"
#include "hbf/sdk/failure.hpp"
#include "tools/bandwidth/environment.hpp"
#include "tools/commands.hpp"
#include "tools/conformance/commands.hpp"
#include "tools/doctor/doctor.hpp"
#include "tools/emulated.hpp"
#include "tools/offers.hpp"
#include "tools/signals.hpp"
#include "tools/without_root.hpp"

namespace hbf::tools {
namespace {

using namespace conformance;

struct Options {
    std::string plugin, device, peer, profile = "quick", seed, waivers, inject;
    std::vector<std::string> filter, skip, mask, options;
    std::string json, junit, ocp, html;
    uint64_t repeat = 1;
    bool list = false, in_process = false, all = false, no_preflight = false, keep_going = false;
};

struct Report {
    const std::string *path;
    std::string (*make)(const RunRecord &);
};

std::vector<Report> reports(const Options &o) {
    std::vector<Report> out;
    for (const Report &one : {Report{&o.json, report_json}, Report{&o.junit, report_junit}, Report{&o.ocp, report_ocp},
                              Report{&o.html, report_html}})
        if (!one.path->empty()) out.push_back(one);
    return out;
}

int code(Exit exit) {
    return static_cast<int>(exit);
}

int refuse(Exit exit, const std::string &why) {
    print_error("hbf conformance: " + why);
    return code(exit);
}

CaseProcess case_process(const std::filesystem::path &program) {
    CaseProcess out;
    out.program = program;
    out.interrupted = [] { return interrupted(); };
    return out;
}

std::string to_stdout(const Options &o) {
    std::vector<const char *> taken;
    for (const auto &[path, name] :
         {std::pair{&o.json, "--json"}, {&o.junit, "--junit"}, {&o.ocp, "--ocp"}, {&o.html, "--html"}})
        if (*path == "-") taken.push_back(name);
    return taken.size() < 2 ? "" : fmt::format("{} and {} cannot both write to stdout", taken[0], taken[1]);
}

// "" or the first report that could not be written.
std::string unwritable(const Options &o) {
    if (const auto why = to_stdout(o); !why.empty()) return why;
    std::vector<std::string> seen;
    for (const Report &one : reports(o)) {
        if (*one.path == "-") continue;
        if (std::find(seen.begin(), seen.end(), *one.path) != seen.end())
            return fmt::format("two reports are to be written to '{}'", *one.path);
        seen.push_back(*one.path);
        if (auto ok = check_writable(*one.path); !ok) return ok.error();
    }
    return "";
}

int list(const Options &o, const std::filesystem::path &program) {
    const auto all = list_cases(case_process(program));
    if (!all) return refuse(Exit::error, all.error());
    CaseFilter filter{o.filter, o.skip, Profile::soak};
    const auto chosen = choose_cases(*all, filter);
    if (!chosen) return refuse(Exit::usage, chosen.error());
    if (!o.json.empty()) {
        const std::string text = to_json(*chosen).dump();
        if (o.json == "-") return print(text), 0;
        if (auto written = write_file(o.json, text); !written) return refuse(Exit::error, written.error());
        return 0;
    }
    std::vector<std::vector<Cell>> rows;
    for (const CaseEntry &entry : *chosen)
        rows.push_back({entry.name, entry.profile, fmt::format("{}", fmt::join(entry.needs, ", ")),
                        fmt::format("{}", fmt::join(entry.rules, ", "))});
    print(format_table({"case", "profile", "needs", "rules"}, rows));
    return 0;
}

// `said`: which device that is, where none was named.
tl::expected<Target, TargetError> target(const Options &o, std::string &said) {
    const auto cancelled = [] { return interrupted() != 0; };
    auto out = !o.plugin.empty()  ? target_of_file(o.plugin, o.device)
               : o.device.empty() ? target_of_host(cancelled, said)
                                  : target_of_name(o.device, cancelled);
    if (!out) return out;
    if (auto added = add_peer(*out, o.peer, cancelled); !added) return tl::unexpected(std::move(added.error()));
    return out;
}

tl::expected<uint64_t, std::string> seed_of(const std::string &text) {
    size_t used = 0;
    try {
        if (!text.starts_with('-')) {
            const uint64_t seed = std::stoull(text, &used, 0);
            if (used == text.size()) return seed;
        }
    } catch (const std::exception &) { // no number, or too large
    }
    return tl::unexpected(fmt::format("--seed: '{}' is not a whole number in 0..2^64-1", text));
}

// The rest of what run_suite takes; the error is the command line's.
tl::expected<RunOptions, std::string> run_options(const Options &o) {
    RunOptions out;
    out.filter = {o.filter, o.skip, *profile_from(o.profile)};
    out.repeat = o.repeat;
    out.keep_going = o.keep_going;
    out.inject = o.inject;
    out.command_line = command_line();
    out.revision = bandwidth::read_environment().git;
    if (!o.seed.empty()) {
        const auto seed = seed_of(o.seed);
        if (!seed) return tl::unexpected(seed.error());
        out.seed = *seed;
    }
    const auto mask = mask_of(o.mask);
    if (!mask) return tl::unexpected("--mask: " + mask.error());
    out.mask = *mask;
    if (!o.waivers.empty()) {
        auto waivers = load_waivers(o.waivers);
        if (!waivers) return tl::unexpected(waivers.error());
        out.waivers = std::move(*waivers);
    }
    for (const std::string &option : o.options) {
        const size_t at = option.find('=');
        if (at == 0 || at == std::string::npos)
            return tl::unexpected(fmt::format("--option: '{}' is not KEY=VALUE", option));
    }
    try {
        if (!o.inject.empty()) inject::make_faults(o.inject);
    } catch (const sdk::Failure &failure) {
        return tl::unexpected(fmt::format("--inject: {}", failure.message));
    }
    return out;
}

// This process becomes the case, for a debugger that was started with it.
int become_case(const RunOptions &run) {
    const auto all = list_cases(case_process(run.case_program));
    if (!all) return refuse(Exit::error, all.error());
    const auto chosen = choose_cases(*all, run.filter);
    if (!chosen) return refuse(Exit::usage, chosen.error());
    if (chosen->size() != 1)
        return refuse(Exit::usage,
                      fmt::format("--in-process runs one case; {} match, name one with --filter", chosen->size()));
    if (!run.seed)
        return refuse(Exit::usage, "--in-process needs --seed, as the report's command to run a case again has it");
    CaseArguments arguments;
    arguments.name = chosen->front().name;
    arguments.subject = {run.target.plugin_file, run.target.device_id, run.target.options, run.mask, run.target.peer};
    arguments.seed = case_seed(*run.seed, arguments.name);
    arguments.profile = run.filter.profile;
    if (!run.inject.empty()) arguments = behind_wrapper(arguments, run.wrapper.string(), run.inject);
    auto words = words_of(arguments);
    words.insert(words.begin(), run.case_program.string());
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(run.case_program.c_str(), argv.data());
    return refuse(Exit::error, fmt::format("{}: {}", run.case_program.string(), std::strerror(errno)));
}

// All of them, whatever fails on the way; false if one was lost.
bool write_reports(const Options &o, const RunRecord &run) {
    bool good = true, text = true;
    for (const Report &one : reports(o)) {
        const std::string content = one.make(run);
        if (*one.path == "-") {
            print(content);
            text = false;
        } else if (auto written = write_file(*one.path, content); !written) {
            refuse(Exit::error, written.error());
            good = false;
        }
    }
    if (text)
        print(said_emulated(report_text(run, {o.all})));
    else
        print_error(fmt::format("hbf conformance: {}: {}", run.verdict, run.verdict_reason));
    return good;
}

bool report_on_stdout(const Options &o) {
    const auto all = reports(o);
    return std::any_of(all.begin(), all.end(), [](const Report &one) { return *one.path == "-"; });
}

// Before the run, and beside a report that is a document.
void say_first(const Options &o, const std::string &said) {
    const std::string line = said_emulated("device: " + said);
    if (report_on_stdout(o)) return print_error(line);
    print(line + "\n");
    close_output();
}

RunHooks hooks() {
    RunHooks out;
    out.interrupted = [] { return interrupted(); };
    out.starting = [](size_t done, size_t all, const std::string &name) {
        show_progress(all ? fmt::format("[{}/{}] {}", done + 1, all, name) : name);
    };
    out.finished = [](const CaseRecord &record) {
        if (!failed(record.status) || isatty(STDERR_FILENO) == 0) return;
        print_error(fmt::format("{}: {}: {}", record.name, to_string(record.status), record.reason));
    };
    return out;
}

Preflight preflight() {
    Preflight out;
    const auto examination = doctor::preflight();
    out.summary = examination.summary();
    for (const doctor::Finding &finding : examination.findings) {
        PreflightFinding one{
            finding.id, finding.title, std::string(id_of(finding.verdict)), finding.found, finding.why, finding.remedy, {}};
        for (const doctor::Seen &seen : finding.evidence) one.evidence.push_back(seen.path + ": " + seen.value);
        out.findings.push_back(std::move(one));
    }
    return out;
}

int run_conformance(const Options &o) {
    const auto program = case_program();
    if (!program) return refuse(Exit::error, program.error());
    if (o.inject == "help") return print(inject::faults_help()), 0;
    if (o.list) return list(o, *program);
    auto options = run_options(o);
    if (!options) return refuse(Exit::usage, options.error());
    if (const auto why = unwritable(o); !why.empty()) return refuse(Exit::error, why);
    std::string said;
    auto found = target(o, said);
    if (interrupted()) return interrupted_exit_code();
    if (!found) {
        const auto kind = found.error().kind;
        return refuse(kind == TargetError::usage      ? Exit::usage
                      : kind == TargetError::untested ? Exit::untested
                                                      : Exit::error,
                      found.error().message);
    }
    options->target = std::move(*found);
    for (const std::string &option : o.options)
        options->target.options.emplace_back(option.substr(0, option.find('=')), option.substr(option.find('=') + 1));
    options->case_program = *program;
    const auto wrapper = inject_plugin();
    if (!wrapper) return refuse(Exit::error, wrapper.error());
    options->wrapper = *wrapper;
    if (o.in_process) return become_case(*options);
    if (!said.empty()) say_first(o, said);
    say_without_root();

    if (!o.no_preflight) options->preflight = preflight();
    const auto run = run_suite(*options, hooks());
    clear_progress();
    if (!run && interrupted()) return interrupted_exit_code(); // before there was anything to report
    if (!run) return refuse(run.error().kind == RunError::usage ? Exit::usage : Exit::error, run.error().message);
    const bool written = write_reports(o, *run);
    if (run->interrupted && interrupted()) return interrupted_exit_code();
    const int verdict = exit_code(*run);
    return written || verdict != 0 ? verdict : code(Exit::error);
}

std::vector<Option> conformance_options(Options &o) {
    const char *what = "What is tested", *how = "How", *output = "Output", *develop = "For development";
    return {
        {"--plugin", &o.plugin, "FILE", "the plugin's library", false, what},
        {"--device", &o.device, "NAME",
         "a device as 'hbf probe' shows it, or 'sim', the suite's simulated one; with --plugin: a device of that plugin "
         "(default: the one that ranks first on this host)",
         false, what, Offer::by_name, device_names},
        {"--option", &o.options, "KEY=VALUE", "an option for the plugin; repeatable", false, what},
        {"--peer", &o.peer, "NAME",
         "second device of the cases between two: a name as above, a library, or 'none' (default: host; of host: sim)",
         false, what, Offer::by_name, device_names},
        {"--filter", &o.filter, "CASES", "only these cases or groups: dma, dma.copy, '*.overlap*'; repeatable", false, what,
         Offer::by_name, case_names},
        {"--skip", &o.skip, "CASES", "not these cases or groups", false, what, Offer::by_name, case_names},
        {"--list", &o.list, "", "list the cases and end", false, what},
        {"--profile", Choice{&o.profile, {"quick", "full", "soak"}}, "quick|full|soak",
         "a minute, some minutes, hours (default quick)", false, how},
        {"--seed", &o.seed, "N", "seed of all random choices (default: random, printed)", false, how},
        {"--repeat", Number{&o.repeat, 1, 1000000}, "N", "each case N times, with N seeds (default 1)", false, how},
        {"--mask", &o.mask, "NAME", "hide a capability from the cases: cancel, crc, ..., or all; repeatable", false, how,
         Offer::by_name, mask_names},
        {"--waivers", &o.waivers, "FILE", "known failures, with owner, reason and expiry (TOML)", false, how},
        {"--inject", &o.inject, "FAULTS", "put faults between suite and device; 'help' lists them", false, how,
         Offer::by_name, fault_names},
        {"--keep-going", &o.keep_going, "",
         "run all cases of a device that completes nothing (default: stop when three have waited in vain)", false, how},
        {"--no-preflight", &o.no_preflight, "", "do not look at the machine first (hbf doctor)", false, how},
        {"--json", &o.json, "FILE", "everything, as JSON; '-' is stdout, for the others too", false, output},
        {"--junit", &o.junit, "FILE", "JUnit XML", false, output},
        {"--ocp", &o.ocp, "FILE", "OCP diagnostics JSON lines", false, output},
        {"--html", &o.html, "FILE", "one page with plots", false, output},
        {"-a,--all", &o.all, "", "show the cases that passed too", false, output},
        {"--in-process", &o.in_process, "", "run one case in this process: gdb --args hbf conformance --in-process ...",
         false, develop},
    };
}

} // namespace

Command conformance_command() {
    auto o = std::make_shared<Options>();
    Command command;
    command.name = "conformance";
    command.summary = "test whether a plugin keeps to its rules";
    command.description =
        "Each case runs in a process of its own. A self-test first puts faults between the suite and the device and must "
        "see every one. A case that the plugin does not declare the means for is not supported; what it declares must work. "
        "docs/conformance.md says what each status means, and what a pass does not say.";
    command.examples = "  hbf conformance                                   the device that ranks first here, a minute\n"
                       "  hbf conformance --device host                     this host's own device\n"
                       "  hbf conformance --plugin /opt/acme/hbf_plugin_acme.so --html report.html\n"
                       "  hbf conformance --device host --filter dma,async --repeat 100\n"
                       "  hbf conformance --device sim --inject flip,rate=1000\n"
                       "  hbf conformance --plugin ./p.so --filter dma.copy.h2d.every_length_0_to_4096 --seed 0x1234";
    command.group = "Measure and test";
    command.exits = {{Exit::pass, "conformant: no case failed, save for waived ones"},
                     {Exit::fail, "not conformant: a case failed, or none was executed"},
                     {Exit::error, "undecided: an error, a control that was not seen"},
                     {Exit::untested, "this host has no device to test"}};
    command.without_root = without_root_help;
    command.options = conformance_options(*o);
    command.children = {conformance_diff_command(), conformance_mutants_command(), conformance_statement_command(),
                        conformance_package_command(), conformance_verify_command()};
    command.run = [o] { return run_conformance(*o); };
    return command;
}

} // namespace hbf::tools
