// SPDX-License-Identifier: Apache-2.0
// hbf profile: where the time and the bytes of a decoded token went.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/engine/trace/trace.hpp"
#include "core/output/file.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"
#include "tools/commands.hpp"
#include "tools/decode/flags.hpp"
#include "tools/decode/report.hpp"
#include "tools/emulated.hpp"

namespace hbf::tools {
namespace {

struct Flags : decode::Flags {
    std::string output;
    bool json = false;
};

std::string table(const std::vector<kv::trace::ByName> &all, double seconds) {
    std::vector<std::vector<Cell>> rows;
    for (const auto &one : all) {
        rows.push_back({one.name, std::to_string(one.count), format_duration(one.self_seconds),
                        fmt::format("{:.1f} %", 100 * one.self_seconds / seconds), one.bytes ? format_size(one.bytes) : "-",
                        one.bytes && one.seconds > 0
                            ? format_significant(static_cast<double>(one.bytes) / one.seconds * 1e-9)
                            : std::string("-")});
    }
    return format_table({"what", ">times", ">time in it", ">of all", ">bytes", ">GB/s"}, rows, "  ");
}

Json rows_json(const std::vector<kv::trace::ByName> &all) {
    auto out = Json::array();
    for (const auto &one : all)
        out.push(Json::object({{"name", one.name},
                               {"count", one.count},
                               {"seconds", one.seconds},
                               {"self_seconds", one.self_seconds},
                               {"bytes", one.bytes}}));
    return out;
}

int run_profile(const Flags &flags) {
    if (!flags.output.empty()) {
        if (const auto fine = check_writable(flags.output); !fine) {
            print_error("hbf profile: " + fine.error());
            return static_cast<int>(Exit::usage);
        }
    }
    std::optional<kv::trace::Recording> recording;
    decode::Options options;
    options.before = [&] { recording.emplace(); };
    options.after = [&] { recording->stop(); };
    int exit = 0;
    const auto outcome = decode::run("hbf profile", flags, options, exit);
    if (!outcome) return exit;
    const auto all = recording->summary();
    if (flags.json) {
        print(Json::object({{"schema", "hbf.profile"},
                            {"version", 1},
                            {"seconds", recording->seconds()},
                            {"left_out", recording->left_out()},
                            {"spans", rows_json(all)},
                            {"decode", decode::report_json(options, *outcome)}})
                  .dump());
    } else {
        print(said_emulated(decode::report_text(options, *outcome)));
        print(fmt::format("Where the time went of {} tokens with a share in HBM, {} in all:\n", options.steps,
                          format_duration(recording->seconds())));
        print(said_emulated(table(all, recording->seconds())));
        if (const uint64_t lost = recording->left_out(); lost != 0)
            print(fmt::format("  {} spans were left out: there was room for no more (fewer --steps)\n", lost));
    }
    if (!flags.output.empty()) {
        if (const auto written = write_file(flags.output, recording->json()); !written) {
            print_error("hbf profile: " + written.error());
            return static_cast<int>(Exit::error);
        }
        print_error("hbf profile: " + flags.output + " can be opened in https://ui.perfetto.dev");
    }
    return static_cast<int>(decode::passed(*outcome) ? Exit::pass : Exit::fail);
}

} // namespace

Command profile_command() {
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "profile";
    command.summary = "where the time and the bytes of a decoded token went";
    command.description = "Decodes as 'hbf bench decode' does, and tells what the time went into: attention by tier, moves, "
                          "merging. With -o every span is written for Perfetto.";
    command.group = "Measure and test";
    command.examples = "  hbf profile                                 128K tokens, a fifth of them in HBM\n"
                       "  hbf profile --context 8K -o trace.json      and a trace for https://ui.perfetto.dev\n";
    command.options = decode::options_of(*flags);
    command.options.push_back({"-o,--output", &flags->output, "FILE", "trace events of every span"});
    command.options.push_back({"--json", &flags->json, "", "one JSON document (hbf.profile)"});
    command.exits = {{Exit::fail, "what was decoded is wrong"},
                     {Exit::untested, "no device here has HBM, and HBF that the CPU can reach"}};
    command.run = [flags] { return run_profile(*flags); };
    return command;
}

} // namespace hbf::tools
