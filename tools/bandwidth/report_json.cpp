// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/output/json.hpp"
#include "tools/bandwidth/environment.hpp"
#include "tools/bandwidth/report.hpp"
#include "tools/cli/version.hpp"
#include "tools/emulated.hpp"

namespace hbf::tools::bandwidth {
namespace {

Json summary_json(const measure::Summary &s) {
    if (s.count == 0) return {};
    auto out = Json::object({{"count", s.count},
                             {"median", s.median},
                             {"min", s.min},
                             {"p5", s.p5},
                             {"p95", s.p95},
                             {"p99", s.p99},
                             {"max", s.max}});
    out.set("ci95_low", s.ci95 ? Json(s.ci95->low) : Json()).set("ci95_high", s.ci95 ? Json(s.ci95->high) : Json());
    return out.set("half_width", s.half_width());
}

Json mismatch_json(const measure::Mismatch &m) {
    return Json::object({{"offset", m.offset},
                         {"expected", m.expected},
                         {"actual", m.actual},
                         {"wrong_words", m.wrong_words},
                         {"checked_words", m.checked_words},
                         {"word_bytes", 4},
                         {"guess", m.guess}});
}

Json sample_json(const Row &row, size_t i) {
    const auto &record = row.samples[i];
    auto out = Json::object({{"bandwidth", row.gbs[i]},
                             {"wall_bandwidth", row.wall_gbs[i]},
                             {"queue_seconds", record.sample.queue_seconds},
                             {"wall_seconds", record.sample.wall_seconds},
                             {"gated", record.sample.gated},
                             {"generation", record.sample.generation},
                             {"verified", !record.sample.mismatch.has_value()}});
    if (record.sample.mismatch) out.set("mismatch", mismatch_json(*record.sample.mismatch));
    if (record.contention) {
        out.set("contended", record.contention->contended).set("foreign_cpu", record.contention->foreign);
        out.set("steal", record.contention->steal).set("involuntary_switches", record.contention->involuntary_switches);
    }
    return out;
}

Json tier_json(const Place &place) {
    const auto &t = place.tier;
    return Json::object({{"name", t.name},
                         {"kind", kind_name(t.kind)},
                         {"media", media_name(t.media)},
                         {"numa_node", t.numa_node < 0 ? Json() : Json(t.numa_node)},
                         {"device", place.device_name},
                         {"plugin", place.plugin},
                         {"emulated", place.emulated || t.emulated},
                         {"degraded", t.degraded},
                         {"capacity_bytes", t.capacity},
                         {"detail", t.detail}});
}

Json pages_json(const std::map<int, size_t> &pages) {
    auto out = Json::object();
    for (auto [node, count] : pages) out.set(node < 0 ? "unknown" : std::to_string(node), count);
    return out;
}

Json compared_json(const Row &row, const std::optional<Row::Compared> &compared) {
    if (!compared) return {};
    const auto &series = row.references[compared->reference];
    return Json::object({{"copy", measure::to_string(series.kind)},
                         {"threads", series.threads},
                         {"bandwidth", compared->gbs},
                         {"share", compared->share}});
}

Json histogram_json(const measure::Histogram &h) {
    if (h.count() == 0) return {};
    return Json::object({{"count", h.count()},
                         {"p50", h.quantile(0.5)},
                         {"p90", h.quantile(0.9)},
                         {"p99", h.quantile(0.99)},
                         {"p999", h.quantile(0.999)},
                         {"max", h.max()}});
}

Json latency_json(const LatencySeries &series) {
    const auto &l = series.latency;
    return Json::object({{"name", series.name},
                         {"unit", "ns"},
                         {"offered_per_second", series.offered > 0 ? Json(series.offered) : Json()},
                         {"per_second", l.per_second()},
                         {"total", histogram_json(l.total)},
                         {"submit", histogram_json(l.submit)},
                         {"movement", histogram_json(l.movement)},
                         {"visible", histogram_json(l.visible)}});
}

Json emulated_json() {
    const std::string name = emulated_machine();
    return name.empty() ? Json() : Json(name);
}

Json row_json(const Row &row, const Machine &machine) {
    auto out = Json::object({{"transfer", transfer_name(row)},
                             {"shape", row.spec.what},
                             {"src", tier_json(machine.places()[row.spec.src])},
                             {"executor", row.executor},
                             {"dst", tier_json(machine.places()[row.spec.dst])},
                             {"status", status_name(row.status)},
                             {"reason", row.reason},
                             {"emulated", row.emulated},
                             {"interrupted", row.interrupted}});
    out.set("unit", "GB/s").set("count", "copied_once").set("clock", "queue");
    // A figure that failed its check is no bandwidth: its samples are kept below as evidence only.
    const bool good = row.status == Status::pass;
    out.set("bandwidth", good ? summary_json(row.queue) : Json())
        .set("wall_bandwidth", good ? summary_json(row.wall) : Json());
    out.set("overhead_us", row.overhead_us).set("contended_samples", row.contended).set("contended", row.is_contended());
    out.set("cache_hot", row.cache_hot).set("page_cache", to_string(row.page_cache)).set("buffer_bytes", row.bytes);
    out.set("cold_buffer_bytes", row.wanted_bytes).set("sample_bytes", row.sample_bytes).set("op_bytes", row.op_size);
    out.set("batch_ops", row.batch_ops).set("depth", row.depth).set("warmup_passes", row.warmup_passes);
    out.set("unstable_warmup", !row.warmup_stable).set("stopped", row.stopped);
    auto references = Json::array();
    for (const auto &series : row.references) {
        references.push(Json::object({{"copy", measure::to_string(series.kind)},
                                      {"threads", series.threads},
                                      {"bandwidth", summary_json(measure::summarize(series.gbs))},
                                      {"samples", Json::array_of(series.gbs)}}));
    }
    out.set("references", references).set("efficiency_one_thread", compared_json(row, row.one_thread));
    out.set("efficiency_all_threads", compared_json(row, row.all_threads));
    out.set("limit",
            row.limit ? Json::object({{"bandwidth", row.limit->gbs}, {"tier", row.limit->tier}, {"share", row.limit->share}})
                      : Json());
    out.set("floor", row.floor ? Json::object({{"bandwidth", row.floor->gbs},
                                               {"profile", row.floor->profile},
                                               {"source", row.floor->source},
                                               {"date", row.floor->date}})
                               : Json());
    out.set("placement", Json::object({{"cpu", row.cpu.cpu},
                                       {"node", row.cpu.node},
                                       {"bound", row.bound},
                                       {"src_pages_by_node", pages_json(row.src_pages)},
                                       {"dst_pages_by_node", pages_json(row.dst_pages)},
                                       {"pages_asked", row.pages_asked},
                                       {"src_page_bytes", row.src_page_size},
                                       {"dst_page_bytes", row.dst_page_size}}));
    auto latencies = Json::array();
    for (const auto &series : row.latencies) latencies.push(latency_json(series));
    out.set("latencies_64k", latencies);
    out.set("notes", Json::array_of(row.notes)).set("likely_causes", Json::array_of(row.causes));
    auto samples = Json::array();
    for (size_t i = 0; i < row.samples.size(); ++i) samples.push(sample_json(row, i));
    return out.set("samples", samples);
}

} // namespace

const char *verdict_name(Exit exit) {
    switch (exit) {
    case Exit::pass:
        return "pass";
    case Exit::fail:
        return "fail";
    case Exit::untested:
        return "skipped";
    default:
        return "error";
    }
}

std::string report_json(const Run &run, const Machine &machine, const Options &options) {
    auto rows = Json::array();
    for (const auto &row : run.rows) rows.push(row_json(row, machine));
    auto out = Json::object({{"schema", "hbf.bandwidth"},
                             {"schema_version", schema_version},
                             {"tool_version", tool_version()},
                             {"libhbf_version", run.libhbf_version},
                             {"started", run.started},
                             {"elapsed_seconds", run.elapsed_seconds},
                             {"arguments", Json::array_of(options.arguments)},
                             {"seed", run.seed},
                             {"launches", 1},
                             {"git", run.environment.git},
                             {"status", verdict_name(verdict(run))},
                             {"interrupted", run.interrupted},
                             {"unjudged", run.unjudged},
                             {"emulated_machine", emulated_json()},
                             {"closing_line", closing_line(run)}});
    out.set("notes", Json::array_of(run.notes));
    out.set("environment", environment_json(machine.inventory(), run.environment)).set("rows", rows);
    return out.dump();
}

} // namespace hbf::tools::bandwidth
