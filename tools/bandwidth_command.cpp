// SPDX-License-Identifier: Apache-2.0
// hbf bandwidth: verified bandwidth of this machine's tiers.
#include <memory>
#include <random>

#include <fmt/format.h>

#include "hbf/system.hpp"
#include "tools/bandwidth/hbf_machine.hpp"
#include "tools/bandwidth/judge.hpp"
#include "tools/bandwidth/profile.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/bandwidth/run.hpp"
#include "tools/commands.hpp"
#include "tools/output/file.hpp"
#include "tools/output/stream.hpp"
#include "tools/signals.hpp"

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
    if (options.json) return bandwidth::report_json(run, machine, options);
    return options.csv ? bandwidth::report_csv(run) : bandwidth::report_text(run, machine, options);
}

int run_bandwidth(Options options) {
    if (options.json && options.csv) return refuse(Exit::usage, "--json and --csv exclude each other");
    std::optional<bandwidth::Profile> profile;
    if (!options.profile.empty()) {
        auto loaded = bandwidth::load_profile(options.profile);
        if (!loaded) return refuse(Exit::usage, loaded.error());
        profile = std::move(*loaded);
    }
    if (!options.output.empty()) {
        if (auto ok = check_writable(options.output); !ok) return refuse(Exit::error, ok.error());
    }
    // Within 32 bits, so that it is easy to read, say and type again.
    if (options.seed == 0) options.seed = std::random_device()() | 1u;

    options.arguments = command_line();

    auto system = System::open();
    if (!system) return refuse(Exit::error, system.error().message);
    auto machine = bandwidth::make_hbf_machine(*system, [] { return interrupted() != 0; });
    if (machine->places().empty()) {
        return refuse(Exit::untested, "no plugin offers a tier on this host; 'hbf probe --explain' says why");
    }
    auto rows = bandwidth::choose_rows(*machine, options);
    if (!rows) return refuse(Exit::usage, rows.error());
    if (rows->empty()) return refuse(Exit::untested, "this host has no such tier; 'hbf probe' lists its tiers");

    bandwidth::RunHooks hooks{[] { return interrupted() != 0; }, [](const std::string &text) { show_progress(text); }};
    auto run = bandwidth::measure_rows(*machine, *rows, options, hooks);
    clear_progress();
    run.libhbf_version = version();
    if (profile) {
        for (auto &row : run.rows) {
            const auto &places = machine->places();
            bandwidth::judge_floor(row, *machine, profile->floor(places[row.spec.src].tier, places[row.spec.dst].tier));
        }
    }
    const auto text = report(run, *machine, options);
    if (options.output.empty()) {
        print(text);
    } else {
        if (auto written = write_file(options.output, text); !written) return refuse(Exit::error, written.error());
        print(bandwidth::closing_line(run) + "\n");
    }
    return run.interrupted && interrupted() != 0 ? interrupted_exit_code() : code(bandwidth::verdict(run));
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
                       "  hbf bandwidth --target-ci 1 --time 60 until the interval is within 1 %, a minute at most\n"
                       "  hbf bandwidth --profile node.json     fail what is below the floors of a sourced profile";
    command.options = {
        {"--tier,--mode", &o->tiers, "NAME|KIND", "only these tiers: a name (dram0) or a kind (hbm, hbf, cold); repeatable"},
        {"--device", &o->device, "NAME", "only this device"},
        {"--matrix", &o->matrix, "", "every ordered pair of tiers"},
        {"--size", Bytes{&o->size, 4096}, "BYTES",
         "bytes of each buffer: 64KiB, 256MiB, 1GB, 1GiB (default: max of 4 x cache, 256MiB)"},
        {"--op-size", Bytes{&o->op_size, 4096}, "BYTES", "bytes of one copy (default 1MiB)"},
        {"--depth", Number{&o->depth, 1, 1024}, "N", "batches in flight (default 8)"},
        {"--samples", Number{&o->samples, 1, 100000}, "N", "samples of each transfer, fewer if the time is up (default 30)"},
        {"--time", Real{&o->seconds, 0.1, 86400}, "SECONDS", "time for all transfers together (default 20)"},
        {"--warm-up", Real{&o->warm_up, 0.001, 3600}, "SECONDS",
         "warm-up of each transfer at most (default a tenth of its share)"},
        {"--target-ci", Real{&o->target_ci, 0.01, 100}, "PERCENT",
         "go on until the interval is this narrow, or the time is up"},
        {"--seed", Number{&o->seed, 1, UINT32_MAX}, "N",
         "seed of the test data and orders, to repeat a run (default: random, printed)"},
        {"--no-affinity", &o->no_affinity, "", "do not bind threads to the memory's node"},
        {"--profile", &o->profile, "FILE", "judge against the floors in this JSON file (profile, source, date, floors)"},
        {"--json", &o->json, "", "one JSON document with every sample"},
        {"--csv", &o->csv, "", "a line for each sample"},
        {"-o,--output", &o->output, "FILE", "write the report to a file, in full or not at all"},
        {"-v,--verbose", &o->verbose, "", "also clocks, placement and shape of each transfer"},
    };
    command.run = [o] { return run_bandwidth(*o); };
    return command;
}

} // namespace hbf::tools
