// SPDX-License-Identifier: Apache-2.0
// hbf bandwidth: verified bandwidth of this machine's tiers.
#include <memory>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "core/output/file.hpp"
#include "core/output/stream.hpp"
#include "core/output/terminal.hpp"
#include "hbf/system.hpp"
#include "tools/bandwidth/hbf_machine.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/launches.hpp"
#include "tools/bandwidth/profile.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/bandwidth/run.hpp"
#include "tools/bandwidth/sweep.hpp"
#include "tools/cli/failure.hpp"
#include "tools/commands.hpp"
#include "tools/emulated.hpp"
#include "tools/offers.hpp"
#include "tools/signals.hpp"
#include "tools/without_root.hpp"

namespace hbf::tools {
namespace {

using bandwidth::Options;

int code(Exit exit) {
    return static_cast<int>(exit);
}

int refuse(Exit exit, const std::string &why) {
    print_error("hbf bandwidth: " + why);
    return code(exit);
}

std::string report(const bandwidth::Run &run, const bandwidth::Machine &machine, const Options &options) {
    std::optional<PlainText> for_a_file;
    if (!options.output.empty()) for_a_file.emplace();
    if (options.json) return bandwidth::report_json(run, machine, options);
    if (options.jsonl) return bandwidth::report_ocp(run, machine, options);
    return options.csv ? bandwidth::report_csv(run) : said_emulated(bandwidth::report_text(run, machine, options));
}

// Text to stdout or a file, and the exit code that goes with it.
int deliver(const std::string &text, const bandwidth::Run &run, const Options &options) {
    if (options.output.empty()) {
        print(text);
    } else {
        if (auto written = write_file(options.output, text); !written) return refuse(Exit::error, written.error());
        print(said_emulated(bandwidth::closing_line(run) + "\n"));
    }
    return run.interrupted && interrupted() != 0 ? interrupted_exit_code() : code(bandwidth::verdict(run));
}

int run_launches(const Options &options) {
    std::vector<bandwidth::Launch> launches;
    for (uint64_t i = 0; i < options.launches && interrupted() == 0; ++i) {
        auto arguments = options.arguments;
        arguments.insert(arguments.end(), {"--as-launch", std::to_string((options.seed + i) % UINT32_MAX + 1)});
        show_progress(fmt::format("launch {} of {}", i + 1, options.launches));
        auto launched = bandwidth::launch("/proc/self/exe", arguments, [] { return interrupted(); });
        if (!launched) return refuse(Exit::error, launched.error());
        launches.push_back(std::move(*launched));
        if (auto &document = launches.back().document; is_failure_json(document)) document.clear();
        if (!launches.back().document.empty()) continue;
        if (interrupted() != 0) { // before it had anything to report
            launches.pop_back();
            break;
        }
        if (i > 0) break;
        // Refused, or nothing to test: said once, not by each.
        clear_progress();
        const auto &[exit, document, messages] = launches.front();
        print_error(messages.substr(0, messages.find_last_not_of('\n') + 1));
        return exit != 0 ? exit : code(Exit::error);
    }
    clear_progress();
    if (launches.empty()) return interrupted_exit_code();
    auto combined = bandwidth::combine(launches);
    if (!combined) return refuse(Exit::error, combined.error());
    auto &run = combined->run;
    // Between two launches no document tells of the signal.
    run.interrupted = run.interrupted || (interrupted() != 0 && launches.size() < options.launches);
    std::optional<PlainText> for_a_file;
    if (!options.output.empty()) for_a_file.emplace();
    return deliver(options.json ? bandwidth::launches_json(*combined, options)
                                : said_emulated(bandwidth::launches_text(run)),
                   run, options);
}

std::string conflict(const Options &o) {
    if (o.json + o.csv + o.jsonl > 1) return "--json, --jsonl and --csv exclude each other";
    if (o.matrix + o.bidirectional + (o.numa == "all") > 1)
        return "--matrix, --bidirectional and --numa all exclude each other";
    if (o.sweep && (o.bidirectional || o.numa == "all")) return "--sweep goes with neither --bidirectional nor --numa all";
    if (o.launches > 1 && (o.csv || o.jsonl)) return "--launches reports as text or with --json";
    return "";
}

tl::expected<std::vector<bandwidth::RowSpec>, std::string> rows_for(const bandwidth::Machine &machine,
                                                                    const Options &options) {
    auto rows = bandwidth::choose_rows(machine, options);
    if (!rows || rows->empty()) return rows;
    if (options.numa == "all") return bandwidth::executor_rows(machine, *rows);
    if (!options.sweep) return rows;
    const auto first = rows->front();
    const bool storage =
        bandwidth::is_storage(machine.places()[first.src].tier) || bandwidth::is_storage(machine.places()[first.dst].tier);
    for (auto &one : bandwidth::sweep_of(first, storage, options.size != 0 ? options.size : UINT64_MAX))
        rows->push_back(one);
    return rows;
}

int run_bandwidth(Options options) {
    if (const auto why = conflict(options); !why.empty()) return refuse(Exit::usage, why);
    std::optional<bandwidth::Profile> profile;
    if (!options.profile.empty()) {
        auto loaded = bandwidth::load_profile(options.profile);
        if (!loaded) return refuse(Exit::usage, loaded.error());
        profile = std::move(*loaded);
    }
    if (options.launch_seed != 0) { // one of several: the first process has the rest of the command line
        options.seed = options.launch_seed;
        options.launches = 1;
        options.json = true;
        options.output.clear();
    }
    if (!options.output.empty()) {
        if (auto ok = check_writable(options.output); !ok) return refuse(Exit::error, ok.error());
    }
    // Within 32 bits, so that it is easy to read, say and type again.
    if (options.seed == 0) options.seed = std::random_device()() | 1u;
    options.arguments = command_line();
    if (options.launches > 1) return run_launches(options);

    auto system = System::open();
    if (!system) {
        return refuse(system.error().code == Code::unsupported ? Exit::untested : Exit::error, system.error().message);
    }
    auto machine = bandwidth::make_hbf_machine(*system, [] { return interrupted() != 0; });
    say_without_root();
    if (machine->places().empty()) {
        return refuse(Exit::untested, "no plugin offers a tier on this host; 'hbf probe --explain' says why");
    }
    auto rows = rows_for(*machine, options);
    if (!rows) return refuse(Exit::usage, rows.error());
    if (rows->empty()) {
        return refuse(Exit::untested, options.bidirectional ? "both directions take two tiers; 'hbf probe' lists this host's"
                                                            : "this host has no such tier; 'hbf probe' lists its tiers");
    }
    bandwidth::RunHooks hooks{[] { return interrupted() != 0; }, [](const std::string &text) { show_progress(text); }};
    auto run = bandwidth::measure_rows(*machine, *rows, options, hooks);
    clear_progress();
    run.libhbf_version = version();
    run.environment = bandwidth::read_environment();
    if (options.numa == "all" && machine->inventory().nodes.size() < 2) {
        run.notes.push_back("one NUMA node: every transfer is local, there is nothing to compare");
    }
    if (profile) {
        run.unjudged = true;
        for (auto &row : run.rows) {
            const auto &places = machine->places();
            bandwidth::judge_floor(row, *machine, profile->floor(places[row.spec.src], places[row.spec.dst]));
            run.unjudged = run.unjudged && !row.floor;
        }
        if (run.unjudged)
            run.notes.push_back(fmt::format("profile '{}'{} has no floor for any of these transfers: nothing is decided",
                                            profile->name, profile->device.empty() ? "" : " of " + profile->device));
    }
    return deliver(report(run, *machine, options), run, options);
}

// In the order, and under the headings, of the help.
std::vector<Option> bandwidth_options(Options &o) {
    const char *what = "What is measured", *shape = "In which shape", *how = "For how long", *judged = "Against what",
               *output = "Output";
    return {
        {"--tier,--mode", &o.tiers, "NAME|KIND", "only these tiers: a name (dram0) or a kind (hbm, hbf, cold); repeatable",
         false, what, Offer::by_name, tier_names},
        {"--device", &o.device, "NAME", "only this device, or the devices of this plugin", false, what, Offer::by_name,
         device_names},
        {"--matrix", &o.matrix, "", "every ordered pair of tiers", false, what},
        {"--bidirectional", &o.bidirectional, "", "every pair of two tiers, both ways at once: each way and the sum", false,
         what},
        {"--sweep", &o.sweep, "",
         "also the first transfer in copies of 4 KiB..1 GiB, at depth 1..16, gathered, scattered and cache-hot", false,
         what},
        {"--latency", &o.latency, "",
         "also 64 KiB copies one by one: cold and hot, by stage, and at 50, 80 and 95 % of the highest rate", false, what},
        {"--numa", Choice{&o.numa, {"local", "all"}}, "local|all",
         "'all': from every NUMA node to every tier (default local)", false, what},
        {"--size", Bytes{&o.size, 4096}, "BYTES",
         "bytes of each buffer: 64KiB, 256MiB, 1GB, 1GiB (default: max of 4 x cache, 256MiB)", false, shape},
        {"--op-size", Bytes{&o.op_size, 4096}, "BYTES", "bytes of one copy (default 1MiB)", false, shape},
        {"--depth", Number{&o.depth, 1, 1024}, "N", "batches in flight (default 8)", false, shape},
        {"--batch", Number{&o.batch, 1, 65536}, "N",
         "copies in a batch at most (default 256); what the queue takes is shown", false, shape},
        {"--pages", Choice{&o.pages, {"4k", "thp", "2m", "1g", "best"}}, "SIZE",
         "memory pages: 4k, thp, 2m, 1g, or best (default); what was got is verified and shown", false, shape},
        {"--no-affinity", &o.no_affinity, "", "do not bind threads to the memory's node", false, shape},
        {"--samples", Number{&o.samples, 1, 100000}, "N", "samples of each transfer, fewer if the time is up (default 30)",
         false, how},
        {"--time", Real{&o.seconds, 0.1, 86400}, "SECONDS",
         "for all transfers together (default 20, with --sweep 60; 2 for each of many)", false, how},
        {"--warm-up", Real{&o.warm_up, 0.001, 3600}, "SECONDS",
         "warm-up of each transfer at most (default a tenth of its share)", false, how},
        {"--target-ci", Real{&o.target_ci, 0.01, 100}, "PERCENT",
         "go on until the interval is this narrow, or the time is up", false, how},
        {"--launches", Number{&o.launches, 1, 1000}, "N",
         "processes one after the other, each with its own run; from 6 on, ± is that over launches (default 1)", false, how},
        {"--seed", Number{&o.seed, 1, UINT32_MAX}, "N",
         "seed of the test data and orders, to repeat a run (default: random, printed)", false, how},
        {"--as-launch", Number{&o.launch_seed, 1, UINT32_MAX}, "SEED", "", false, hidden_option},
        {"--profile", &o.profile, "NAME|FILE",
         "judge against sourced floors: of a platform that hbf knows, or in a JSON file (profile, source, date, floors)",
         false, judged, Offer::files, bandwidth::profile_names},
        {"--json", &o.json, "", "one JSON document with every sample", false, output},
        {"--jsonl", &o.jsonl, "", "JSON Lines, Open Compute Project test and validation format 2.0", false, output},
        {"--csv", &o.csv, "", "a line for each sample", false, output},
        {"-o,--output", &o.output, "FILE", "write the report to a file, in full or not at all", false, output},
        {"-v,--verbose", &o.verbose, "", "also clocks, placement, pages and shape of each transfer", false, output},
    };
}

} // namespace

Command bandwidth_command() {
    auto o = std::make_shared<Options>();
    Command command;
    command.name = "bandwidth";
    command.summary = "measure and verify the bandwidth of this machine's tiers";
    command.description =
        "Each transfer is named source -> executor -> destination. Every sample moves fresh data into a poisoned\n"
        "destination and checks every byte of it, outside the timed part; plain copies of the same bytes in the same run\n"
        "are the reference. The figure is the median with its 95% confidence interval; nothing is dropped.";
    command.examples = "  hbf bandwidth                         every tier of this host, about 25 seconds\n"
                       "  hbf bandwidth --tier hbf --size 1GiB  one kind of tier, 1 GiB a buffer\n"
                       "  hbf bandwidth --matrix --json         every pair of tiers, one JSON document\n"
                       "  hbf bandwidth --target-ci 1 --time 60  until the interval is within 1 %, a minute at most\n"
                       "  hbf bandwidth --launches 6            what also differs from one process to the next\n"
                       "  hbf bandwidth --profile node.json     fail what is below the floors of a sourced profile\n"
                       "  hbf bandwidth --device nvidia --matrix --profile nvidia-h100-sxm  as an H100 should be";
    command.options = bandwidth_options(*o);
    command.group = "Measure and test";
    command.exits = {{Exit::pass, "every transfer was verified and is what it must be"},
                     {Exit::fail, "a byte was wrong, or a figure is: below its floor, or above what memory can do"},
                     {Exit::error, "an error, too little data, or no floor where a profile was given: nothing is decided"},
                     {Exit::untested, "this host has no such tier"}};
    command.without_root = without_root_help;
    command.run = [o] { return run_bandwidth(*o); };
    return command;
}

} // namespace hbf::tools
