// SPDX-License-Identifier: Apache-2.0
// hbf replay: traces of real requests against the placement policies.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/engine/placement/heat_cache.hpp"
#include "core/output/file.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "core/output/terminal.hpp"
#include "tools/commands.hpp"
#include "tools/replay/report.hpp"
#include "tools/signals.hpp"

namespace hbf::tools {
namespace {

using replay::Options;

struct Given {
    Options options;
    std::string alpha = "auto";
};

int refuse(Exit exit, const std::string &why) {
    print_error("hbf replay: " + why);
    return static_cast<int>(exit);
}

template <class T>
using Said = tl::expected<T, std::string>;

Said<replay::Result> one_run(const replay::Trace &trace, const replay::Capacity &capacity, const std::string &name,
                             const std::optional<replay::Capacity> &lower, double alpha) {
    using kv::placement::HeatCache;
    auto policy = kv::placement::make_policy(name, capacity.blocks, trace.blocks, {alpha, false});
    if (!policy) return tl::unexpected(policy.error());
    replay::Result result{capacity, name, {}};
    if (lower) {
        auto below = kv::placement::make_policy(name, lower->blocks, trace.blocks, {alpha, true});
        if (!below) return tl::unexpected(below.error());
        result.tally = replay::replay(trace, **policy, **below);
    } else {
        result.tally = replay::replay(trace, **policy);
    }
    if (const auto *heat = dynamic_cast<const HeatCache *>(policy->get())) result.half_life = heat->half_life();
    return result;
}

Said<replay::TraceResults> all_runs(replay::Trace trace, const Options &options) {
    replay::TraceResults all{{}, trace.tokens(), {}, {}, {}};
    if (!options.lower.empty()) {
        auto lower = replay::parse_capacity(options.lower, trace, options.bytes_per_token);
        if (!lower) return tl::unexpected("lower " + lower.error());
        all.lower = *lower;
        all.best.emplace_back(*lower, replay::replay_best(trace, lower->blocks));
    }
    for (const auto &text : options.capacities) {
        const auto capacity = replay::parse_capacity(text, trace, options.bytes_per_token);
        if (!capacity) return tl::unexpected(capacity.error());
        if (!all.lower) all.best.emplace_back(*capacity, replay::replay_best(trace, capacity->blocks));
        for (const auto &policy : options.policies) {
            if (interrupted() != 0) break;
            show_progress(fmt::format("{}: {} at {}", trace.name, policy, text));
            auto result = one_run(trace, *capacity, policy, all.lower, options.alpha);
            if (!result) return tl::unexpected(result.error());
            all.results.push_back(std::move(*result));
        }
    }
    clear_progress();
    trace.accesses = {};
    all.trace = std::move(trace);
    return all;
}

int run_replay(const Given &given) {
    Options options = given.options;
    if (given.alpha != "auto") {
        const auto alpha = parse_real(given.alpha);
        if (!alpha || *alpha <= 0 || *alpha >= 1)
            return refuse(Exit::usage, fmt::format("--alpha '{}': 'auto', or a decay between 0 and 1", given.alpha));
        options.alpha = *alpha;
    }
    if (options.policies.empty()) options.policies = kv::placement::policy_names();
    for (const auto &name : options.policies) {
        if (auto known = kv::placement::make_policy(name, 1, 1); !known) return refuse(Exit::usage, known.error());
    }
    if (options.capacities.empty()) options.capacities = {"1%", "5%", "10%", "20%"};
    if (!options.output.empty()) {
        if (auto ok = check_writable(options.output); !ok) return refuse(Exit::error, ok.error());
    }
    std::vector<replay::TraceResults> all;
    for (const auto &path : options.traces) {
        show_progress("reading " + path);
        auto trace = replay::read_trace(path, options.format);
        clear_progress();
        if (!trace) return refuse(Exit::error, trace.error());
        auto results = all_runs(std::move(*trace), options);
        if (!results) return refuse(Exit::usage, results.error());
        if (interrupted() != 0) return interrupted_exit_code();
        all.push_back(std::move(*results));
    }
    std::optional<PlainText> for_a_file;
    if (!options.output.empty()) for_a_file.emplace();
    const auto text = options.json ? replay::report_json(all, options) : replay::report_text(all, options);
    if (options.output.empty()) {
        print(text);
    } else if (auto written = write_file(options.output, text); !written) {
        return refuse(Exit::error, written.error());
    }
    return static_cast<int>(Exit::pass);
}

} // namespace

Command replay_command() {
    auto g = std::make_shared<Given>();
    Options &o = g->options;
    Command command;
    command.name = "replay";
    command.summary = "replay a trace of requests against the placement policies";
    command.description =
        "Counts what each policy would have served of a trace of prefix blocks: usable tokens, which are those in an\n"
        "unbroken run of held blocks from the head of a request on, what it moved, and how far that is from Belady, who\n"
        "knows the future. Nothing is measured and no device is used: the result is the same on every machine.\n"
        "Traces: timestamp_ms,request_id,block_id,tokens (CSV), Mooncake's JSON lines (512 tokens a block), Qwen-Bailian's\n"
        "(16 tokens a block); each also packed with zstd or gzip.";
    command.examples = "  hbf replay trace.jsonl                        all policies at 1, 5, 10 and 20 % of its blocks\n"
                       "  hbf replay a.csv.zst b.csv.zst --policy ahas,lru --capacity 1%,64GiB --plot\n"
                       "  hbf replay trace.csv --capacity 1% --lower 10%  two levels, with the bytes up and down\n"
                       "  hbf replay trace.csv --alpha 0.999 --json     a fixed decay, for programs\n";
    command.options = {
        {"TRACE", &o.traces, "FILE", "traces", true, "", Offer::files},
        {"--policy", &o.policies, "NAME", "ahas, lru, s3fifo, arc (default: all)", false, "", Offer::by_name,
         [] { return kv::placement::policy_names(); }},
        {"--capacity", &o.capacities, "SIZE",
         "share of the trace's different blocks (5%), blocks (2000) or bytes (64GiB) (default 1%,5%,10%,20%)"},
        {"--lower", &o.lower, "SIZE", "a second level of this capacity below"},
        {"--alpha", &g->alpha, "DECAY", "of AHAS: 'auto' adapts it, or a factor per request such as 0.999 (default auto)"},
        {"--format", Choice{&o.format, {"auto", "csv", "mooncake", "bailian"}}, "NAME",
         "auto, csv, mooncake or bailian (default auto: by the content)"},
        {"--bytes-per-token", Bytes{&o.bytes_per_token}, "BYTES",
         "KV bytes of a token, of all layers (default 128KiB: Llama-3.1-8B in fp16)"},
        {"--plot", &o.plot, "", "bars beside the table"},
        {"--json", &o.json, "", "one JSON document"},
        {"-o,--output", &o.output, "FILE", "write the report to a file, in full or not at all"},
    };
    command.group = "Measure and test";
    command.exits = {{Exit::pass, "every trace was replayed"},
                     {Exit::error, "a trace cannot be read, or has a mistake: the line is named"}};
    command.run = [g] { return run_replay(*g); };
    return command;
}

} // namespace hbf::tools
