// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"

namespace hbf::tools::decode {
namespace {

std::vector<Cell> row_of(const Run &run, double reference) {
    const auto [least, most] = std::minmax_element(run.step_seconds.begin(), run.step_seconds.end());
    return {run.name,
            format_size(run.hbm_bytes),
            run.hbf_bytes ? format_size(run.hbf_bytes) : std::string("-"),
            format_size(run.moved_bytes),
            format_duration(run.median()),
            fmt::format("{} to {}", format_duration(*least), format_duration(*most)),
            format_significant(1 / run.median()),
            format_significant(run.gbs()),
            fmt::format("{:.2f}", reference / run.median())};
}

Json run_json(const Run &run) {
    return Json::object({{"name", run.name},
                         {"hbm_bytes", run.hbm_bytes},
                         {"hbf_bytes", run.hbf_bytes},
                         {"moved_bytes", run.moved_bytes},
                         {"fill_seconds", run.fill_seconds},
                         {"seconds_per_token", run.median()},
                         {"samples_seconds", Json::array_of(run.step_seconds)},
                         {"attended_bytes", run.kv_bytes},
                         {"attended_on_device_bytes", run.device_bytes},
                         {"fetched_bytes", run.fetched_bytes},
                         {"gb_per_second", run.gbs()}});
}

} // namespace

bool passed(const Outcome &outcome) {
    return outcome.same_bits && outcome.exact_error <= most_error;
}

std::string report_text(const Options &options, const Outcome &outcome) {
    std::string out =
        fmt::format("Exact decode after {} tokens: {} layer{} of {} query and {} KV heads of {}, fp16, {} of keys "
                    "and values, one thread{}\n",
                    options.context, options.layers, options.layers == 1 ? "" : "s", options.query_heads, options.kv_heads,
                    options.head_dim, format_size(outcome.kv_bytes), outcome.emulated ? "; EMULATED device" : "");
    out += fmt::format("HBM is {}, HBF is {}; blocks of {} tokens are attended where they are\n", outcome.hbm, outcome.hbf,
                       options.block);
    out += format_table({"memory", ">in HBM", ">in HBF", ">moved", ">a token", ">spread", ">tokens/s", ">GB/s", ">of full"},
                        {row_of(outcome.full, outcome.full.median()), row_of(outcome.tiered, outcome.full.median()),
                         row_of(outcome.selective.run, outcome.full.median())},
                        "  ");
    for (const Run *run : {&outcome.full, &outcome.tiered}) {
        if (run->device_bytes == 0 && run->fetched_bytes == 0) continue;
        out += fmt::format("{}: {} a token attended by the device in its own memory, {} fetched to be attended here{}\n",
                           run->name, format_size(run->device_bytes), format_size(run->fetched_bytes),
                           outcome.emulated ? "; EMULATED" : "");
    }
    out += fmt::format("Outputs: {}; error against double precision {:.1e} (at most {:.0e})\n",
                       outcome.same_bits ? coloured("the same bits in both", Colour::green)
                                         : coloured("NOT THE SAME in both", Colour::red),
                       outcome.exact_error, most_error);
    const Selective &selective = outcome.selective;
    out +=
        fmt::format("Selective: 1/{:.1f} of the bytes read, the index' {} of memory among them in part; farthest from exact "
                    "{:.1e} of its length. Attention over such random numbers is diffuse: the worst case\n",
                    static_cast<double>(selective.all_bytes) / static_cast<double>(selective.read_bytes),
                    format_size(selective.index_bytes), selective.distance);
    return out;
}

Json report_json(const Options &options, const Outcome &outcome) {
    return Json::object({{"schema", "hbf.bench.decode"},
                         {"version", 1},
                         {"passed", passed(outcome)},
                         {"emulated", outcome.emulated},
                         {"context_tokens", options.context},
                         {"layers", options.layers},
                         {"query_heads", options.query_heads},
                         {"kv_heads", options.kv_heads},
                         {"head_dim", options.head_dim},
                         {"block_tokens", options.block},
                         {"hbm_share", options.hbm_share},
                         {"seed", options.seed},
                         {"kv_bytes", outcome.kv_bytes},
                         {"hbm_tier", outcome.hbm},
                         {"hbf_tier", outcome.hbf},
                         {"same_bits", outcome.same_bits},
                         {"error_against_double", outcome.exact_error},
                         {"runs",
                          [&] {
                              auto runs = Json::array();
                              runs.push(run_json(outcome.full)).push(run_json(outcome.tiered));
                              return runs;
                          }()},
                         {"selective", Json::object({{"run", run_json(outcome.selective.run)},
                                                     {"read_bytes", outcome.selective.read_bytes},
                                                     {"all_bytes", outcome.selective.all_bytes},
                                                     {"index_bytes", outcome.selective.index_bytes},
                                                     {"distance_from_exact", outcome.selective.distance},
                                                     {"missed_at_most", outcome.selective.missed}})}});
}

} // namespace hbf::tools::decode
