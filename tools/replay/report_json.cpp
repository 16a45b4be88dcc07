// SPDX-License-Identifier: Apache-2.0
#include "core/output/json.hpp"
#include "tools/cli/version.hpp"
#include "tools/replay/report.hpp"

namespace hbf::replay {
namespace {

Json tally_json(const Tally &tally, const Trace &trace, bool two, uint64_t bytes_per_token) {
    const auto requests = static_cast<double>(trace.requests());
    Json out = Json::object({{"usable_tokens", tally.usable},
                             {"usable_share", tally.share()},
                             {"block_hits", tally.hits},
                             {"block_accesses", tally.accesses},
                             {"written_bytes", tally.admitted_tokens * bytes_per_token}});
    if (two) {
        out.set("upper_tokens", tally.fast);
        out.set("up_blocks_per_request", static_cast<double>(tally.up_blocks) / requests);
        out.set("down_blocks_per_request", static_cast<double>(tally.down_blocks) / requests);
        out.set("up_bytes", tally.up_tokens * bytes_per_token);
        out.set("down_bytes", tally.down_tokens * bytes_per_token);
    }
    return out;
}

Json capacity_json(const Capacity &capacity) {
    return Json::object({{"text", capacity.text}, {"blocks", capacity.blocks}});
}

} // namespace

std::string report_json(const std::vector<TraceResults> &all, const Options &options) {
    Json traces = Json::array();
    for (const auto &results : all) {
        const bool two = results.lower.has_value();
        Json rows = Json::array(), best = Json::array();
        for (const auto &[capacity, tally] : results.best) {
            best.push(Json::object(
                {{"capacity", capacity_json(capacity)}, {"usable_tokens", tally.usable}, {"usable_share", tally.share()}}));
        }
        for (const auto &result : results.results) {
            Json row = Json::object({{"capacity", capacity_json(result.capacity)}, {"policy", result.policy}});
            if (result.half_life > 0) row.set("half_life_requests", result.half_life);
            for (const auto &[capacity, tally] : results.best) {
                if (two || capacity.text == result.capacity.text)
                    row.set("regret_share", tally.share() - result.tally.share());
            }
            row.set("result", tally_json(result.tally, results.trace, two, options.bytes_per_token));
            rows.push(std::move(row));
        }
        traces.push(Json::object({{"trace", results.trace.name},
                                  {"format", results.trace.format},
                                  {"requests", results.trace.requests()},
                                  {"blocks", results.trace.blocks},
                                  {"tokens", results.tokens},
                                  {"seconds", results.trace.seconds},
                                  {"lower", two ? capacity_json(*results.lower) : Json()},
                                  {"belady", best},
                                  {"rows", rows},
                                  {"notes", Json::array_of(results.trace.notes)}}));
    }
    return Json::object({{"schema", "hbf.replay"},
                         {"schema_version", 1},
                         {"tool_version", tools::tool_version()},
                         {"bytes_per_token", options.bytes_per_token},
                         {"alpha", options.alpha > 0 ? Json(options.alpha) : Json("auto")},
                         {"traces", traces}})
        .dump();
}

} // namespace hbf::replay
