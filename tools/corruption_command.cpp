// SPDX-License-Identifier: Apache-2.0
// hbf corruption: moves test data between all tiers of a device and looks at every byte that arrives.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "conformance/integrity/corruption.hpp"
#include "conformance/runner/host_facts.hpp"
#include "conformance/runner/programs.hpp"
#include "conformance/runner/self_test.hpp"
#include "conformance/runner/target.hpp"
#include "conformance/suite/context.hpp"
#include "core/output/file.hpp"
#include "core/output/stream.hpp"
#include "core/output/terminal.hpp"
#include "hbf/selection.hpp"
#include "tools/commands.hpp"
#include "tools/emulated.hpp"
#include "tools/offers.hpp"
#include "tools/signals.hpp"
#include "tools/without_root.hpp"

namespace hbf::tools {
namespace {

namespace cts = conformance;
using integrity::CorruptionRun;
using integrity::Outcome;

struct Options {
    integrity::CorruptionOptions test;
    std::string device, plugin, inject, output, verify = "auto";
    std::vector<std::string> plugin_options;
    double confidence = 0;
    uint64_t seed = 0;
    bool json = false, no_self_test = false;
};

int refuse(Exit exit, const std::string &why) {
    clear_progress();
    print_error("hbf corruption: " + why);
    return static_cast<int>(exit);
}

int refuse(const cts::TargetError &error) {
    return refuse(error.kind == cts::TargetError::usage      ? Exit::usage
                  : error.kind == cts::TargetError::untested ? Exit::untested
                                                             : Exit::error,
                  error.message);
}

std::string conflict(const Options &o) {
    if (!o.device.empty() && !o.plugin.empty() && o.device.find(':') != o.device.npos)
        return "with --plugin, --device is an id of that plugin's: without ':'";
    if ((o.confidence > 0) != (o.test.rate > 0))
        return "--confidence and --rate belong together: --confidence 99.9 --rate 1e-13";
    return "";
}

// Without a name: the device that hbf would use, and which one that is.
tl::expected<cts::Target, cts::TargetError> target_of(const Options &o, std::string &said) {
    const auto cancelled = [] { return interrupted() != 0; };
    if (!o.plugin.empty()) return cts::target_of_file(o.plugin, o.device);
    return o.device.empty() ? cts::target_of_host(cancelled, said) : cts::target_of_name(o.device, cancelled);
}

// Planted faults, on this device and here, before anything is believed.
void self_test(CorruptionRun &run, const cts::CaseArguments &arguments) {
    const auto program = cts::case_program(), wrapper = cts::inject_plugin();
    run.self_test_passed = false;
    if (!program || !wrapper) {
        run.self_test = "self-test: not possible: " + (program ? wrapper.error() : program.error());
        return;
    }
    show_progress("self-test");
    cts::CaseProcess how;
    how.program = *program;
    how.interrupted = [] { return interrupted(); };
    const auto cases = cts::list_cases(how);
    if (!cases) {
        run.self_test = "self-test: not possible: " + cases.error();
        return;
    }
    const auto found =
        std::find_if(cases->begin(), cases->end(), [](const auto &one) { return one.name == "selftest.transfer"; });
    if (found == cases->end()) {
        run.self_test = "self-test: not possible: hbf-case has no selftest.transfer";
        return;
    }
    auto with_name = arguments;
    with_name.name = found->name;
    const auto result = cts::run_self_test(how, *found, wrapper->string(), with_name);
    run.self_test = result.line;
    run.self_test_passed = result.passed;
}

Inventory inventory() {
    SelectOptions options;
    options.open = false;
    Config none;
    const auto selection = select_plugins(none, options);
    return selection ? selection->inventory : Inventory();
}

int finish(const CorruptionRun &run, const Options &o) {
    clear_progress();
    std::optional<PlainText> for_a_file;
    if (!o.output.empty()) for_a_file.emplace();
    const auto text =
        o.json ? integrity::corruption_json(run, command_line()) : said_emulated(integrity::corruption_text(run));
    if (o.output.empty()) {
        print(text);
    } else {
        if (auto written = write_file(o.output, text); !written) return refuse(Exit::error, written.error());
        print(said_emulated(integrity::outcome_text(run) + "\n"));
    }
    switch (integrity::outcome_of(run)) {
    case Outcome::pass:
        return static_cast<int>(Exit::pass);
    case Outcome::fail:
        return static_cast<int>(Exit::fail);
    case Outcome::nothing:
        return static_cast<int>(Exit::untested);
    case Outcome::interrupted:
        return interrupted_exit_code();
    case Outcome::undecided:
        break;
    }
    return static_cast<int>(Exit::error);
}

int run_corruption_command(Options o) {
    if (const auto why = conflict(o); !why.empty()) return refuse(Exit::usage, why);
    auto patterns = integrity::chosen_patterns(o.test.patterns);
    if (!patterns) return refuse(Exit::usage, patterns.error());
    if (!o.output.empty()) {
        if (auto ok = check_writable(o.output); !ok) return refuse(Exit::error, ok.error());
    }
    std::string said;
    auto target = target_of(o, said);
    if (!target) return interrupted() ? interrupted_exit_code() : refuse(target.error());
    if (!said.empty()) {
        said = said_emulated("device: " + said);
        if (o.json && o.output.empty())
            print_error(said);
        else
            print(said + "\n");
    }

    CorruptionRun run;
    o.test.confidence = o.confidence / 100;
    o.test.seed = static_cast<uint32_t>(o.seed != 0 ? o.seed : std::random_device()() | 1u);
    o.test.verify = *integrity::verify_by_from(o.verify); // the option knows the same words
    run.options = o.test;
    run.patterns = *patterns;
    run.inject = o.inject;

    cts::CaseArguments arguments;
    arguments.seed = o.test.seed;
    arguments.subject.plugin_file = target->plugin_file;
    arguments.subject.device_id = target->device_id;
    arguments.subject.options = target->options;
    for (const auto &text : o.plugin_options) {
        const auto equals = text.find('=');
        if (equals == text.npos || equals == 0)
            return refuse(Exit::usage, fmt::format("--option {}: it is KEY=VALUE", text));
        arguments.subject.options.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    if (!o.inject.empty()) {
        const auto wrapper = cts::inject_plugin();
        if (!wrapper) return refuse(Exit::error, wrapper.error());
        arguments = cts::behind_wrapper(arguments, wrapper->string(), o.inject);
        run.self_test = "self-test: none, since this run has faults injected on purpose";
    } else if (o.no_self_test) {
        run.self_test = "self-test: left out";
    } else {
        self_test(run, arguments);
    }
    say_without_root();
    const auto host_before = cts::host_health(inventory());
    try {
        cts::Subject subject(arguments.subject);
        integrity::CorruptionHooks hooks;
        hooks.stop = [] { return interrupted() != 0; };
        hooks.progress = [](const std::string &text) { show_progress(text); };
        hooks.say = [&](const std::string &text) {
            clear_progress();
            run.said = !o.json && o.output.empty();
            if (run.said) print(said_emulated(fmt::format("{}\nhow far: {}\n", run.self_test, text)));
            close_output(); // it is said before the start, also into a pipe
        };
        auto done = integrity::run_corruption(subject, run, hooks);
        if (!done) return refuse(Exit::usage, done.error());
    } catch (const cts::Verdict &verdict) {
        run.trouble = verdict.reason;
    }
    // The wrapper refuses a fault that it does not know, by name and with the nearest one.
    if (!o.inject.empty() && run.trouble.find(": HBF_INVALID: option inject.fault") != std::string::npos)
        return refuse(Exit::usage, fmt::format("--inject {}: {}", o.inject, run.trouble));
    run.interrupted = interrupted() != 0;
    const auto add = [](auto &to, const auto &from) { to.insert(to.end(), from.begin(), from.end()); };
    add(run.counters_before, host_before);
    add(run.counters_after, cts::host_health(inventory()));
    run.counter_changes = cts::health_changes(run.counters_before, run.counters_after);
    return finish(run, o);
}

std::string pattern_help() {
    std::string out = "Patterns:\n";
    for (const auto &one : integrity::patterns()) out += fmt::format("  {:<4}{:<18}{}\n", one.id, one.name, one.what);
    return out;
}

std::vector<Option> corruption_options(Options &o) {
    const char *what = "What is tested", *how = "For how long", *with = "With what data", *output = "Output";
    auto &t = o.test;
    return {
        {"--device", &o.device, "NAME",
         "a plugin (host), a device (host0) or PLUGIN:ID (default: the one that ranks first on this host)", false, what,
         Offer::by_name, device_names},
        {"--plugin", &o.plugin, "FILE", "this plugin, by its file; --device is then an id in it", false, what},
        {"--option", &o.plugin_options, "KEY=VALUE", "for the plugin; repeatable", false, what},
        {"--pairs", &t.pairs, "A->B|A", "only these transfers: from tier A to tier B, or all that A is part of; repeatable",
         false, what},
        {"--bytes", Bytes{&t.bytes, 64u << 10}, "BYTES",
         "of each region, two in each tier (default 256MiB; an eighth of what is free at most)", false, what},
        {"--time", Real{&t.seconds, 0.1, 31'536'000}, "SECONDS",
         "(default 30, unless --iterations, or --confidence and --rate, say when to stop)", false, how},
        {"--iterations", Number{&t.iterations, 1, 1'000'000'000}, "N", "each pattern over each pair, N times", false, how},
        {"--confidence", Real{&o.confidence, 50, 99.9999999}, "PERCENT", "go on until --rate is excluded so surely", false,
         how},
        {"--rate", Real{&t.rate, 1e-20, 1}, "RATE", "errors per bit: bytes and time are computed and said before the start",
         false, how},
        {"--idle", Real{&t.idle_s, 0.1, 86'400}, "SECONDS", "rest of bit_fade (default 300)", false, how},
        {"--pattern", &t.patterns, "NAME", "p0 to p11 or a name of the list below; repeatable (default: all but bit_fade)",
         false, with, Offer::by_name, pattern_names},
        {"--seed", Number{&o.seed, 1, UINT32_MAX}, "N", "of the data, to repeat a run (default: random, printed)", false,
         with},
        {"--verify", Choice{&o.verify, {"auto", "host", "kernel"}}, "host|kernel",
         "who compares: the CPU, or the device by its own kernel wherever that reaches (default auto: the kernel where the "
         "CPU has no address to look at)",
         false, with},
        {"--inject", &o.inject, "FAULT", "plant faults: flip,p=1e-9 or stuck,bit=13 or drop-tail;stale,after=100 ...", false,
         with, Offer::by_name, fault_names},
        {"--no-self-test", &o.no_self_test, "", "do not plant faults before the start to see whether they would be found",
         false, with},
        {"--json", &o.json, "", "one JSON document with every error kept", false, output},
        {"-o,--output", &o.output, "FILE", "write the report to a file, in full or not at all", false, output},
    };
}

} // namespace

Command corruption_command() {
    auto o = std::make_shared<Options>();
    Command command;
    command.name = "corruption";
    command.summary = "move test data between all tiers and look at every byte that arrives";
    command.description =
        "Every pair of tiers, by the device's own copies: 30 seconds, each pair with every pattern in turn. Memory\n"
        "without a CPU address is written and compared by the device's own kernels where it has them, once these have\n"
        "found a planted bit; each line says who compared, and what a kernel finds the host looks for. A wrong word is\n"
        "read again three times, its source is looked at, and what it holds is traced: old data, data of another\n"
        "place, flipped bits. The end is not 'OK' but a bound: what error rate is excluded by what was compared, and\n"
        "with which coverage.\n\n" +
        pattern_help();
    command.examples = "  hbf corruption                                  30 seconds over all pairs of tiers\n"
                       "  hbf corruption --confidence 99.9 --rate 1e-12   until that is excluded; the time is said first\n"
                       "  hbf corruption --pairs 'dram0->hbf0' --time 600  one way, ten minutes\n"
                       "  hbf corruption --pattern bit_fade --idle 1800   what half an hour of rest does\n"
                       "  hbf corruption --verify kernel                  at the speed of the device's memory\n"
                       "  hbf corruption --inject stuck,bit=13            what a stuck data line looks like";
    command.group = "Measure and test";
    command.exits = {{Exit::pass, "every byte compared was right; how much that excludes is said"},
                     {Exit::fail, "a byte was wrong"},
                     {Exit::error, "no verdict: trouble with plugin or driver, or the time was up too early"},
                     {Exit::untested, "there is no such device here"}};
    command.without_root = without_root_help;
    command.options = corruption_options(*o);
    command.run = [o] { return run_corruption_command(*o); };
    return command;
}

} // namespace hbf::tools
