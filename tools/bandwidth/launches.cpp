// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/launches.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "tools/bandwidth/report.hpp"

namespace hbf::tools::bandwidth {
namespace {

std::string text_of(const Json &object, const char *key) {
    const auto member = object.get(key);
    return member ? member->text().value_or("") : "";
}

bool flag_of(const Json &object, const char *key) {
    const auto member = object.get(key);
    return member && member->boolean().value_or(false);
}

Status status_of(const std::string &name) {
    if (name == "pass") return Status::pass;
    if (name == "fail") return Status::fail;
    return name == "skip" ? Status::skipped : Status::error;
}

int gravity(Status status) { // a launch that fails is not outvoted
    switch (status) {
    case Status::fail:
        return 3;
    case Status::error:
        return 2;
    case Status::skipped:
        return 1;
    default:
        return 0;
    }
}

void add(Row &row, const Json &from, size_t launch, bool first) {
    const auto status = status_of(text_of(from, "status"));
    if (first) {
        row.src = text_of(from, "transfer"); // whole: rows of several launches have no parts
        row.sampled = "launches";
        row.warmup_stable = true;
    }
    if (gravity(status) > gravity(row.status)) {
        row.status = status;
        row.reason = fmt::format("launch {}: {}", launch, text_of(from, "reason"));
    }
    row.emulated |= flag_of(from, "emulated");
    row.cache_hot |= flag_of(from, "cache_hot");
    row.interrupted |= flag_of(from, "interrupted");
    if (text_of(from, "page_cache") == "hot") row.page_cache = PageCache::hot;
    const auto bandwidth = from.get("bandwidth"), median = bandwidth ? bandwidth->get("median") : bandwidth;
    if (status != Status::pass || !median || !median->number()) return;
    row.gbs.push_back(*median->number());
    row.samples.emplace_back();
    if (flag_of(from, "contended")) ++row.contended;
}

} // namespace

tl::expected<Launched, std::string> combine(const std::vector<Launch> &launches) {
    Launched out;
    for (size_t i = 0; i < launches.size(); ++i) {
        auto document = Json::parse(launches[i].document);
        const auto rows = document ? document->get("rows") : std::nullopt;
        if (!rows) {
            const auto &said = launches[i].messages;
            return tl::unexpected(fmt::format("launch {} left no report (exit code {}){}{}", i + 1, launches[i].exit_code,
                                              said.empty() ? "" : ": ", said.substr(0, said.find_last_not_of('\n') + 1)));
        }
        if (i > 0 && rows->size() != out.run.rows.size()) {
            return tl::unexpected(fmt::format("launch {} measured {} transfers, the first {}: this host changed meanwhile",
                                              i + 1, rows->size(), out.run.rows.size()));
        }
        out.run.rows.resize(rows->size());
        for (size_t r = 0; r < rows->size(); ++r) add(out.run.rows[r], *rows->at(r), i + 1, i == 0);
        out.run.interrupted |= flag_of(*document, "interrupted");
        out.run.unjudged |= flag_of(*document, "unjudged");
        if (i == 0)
            out.run.started = text_of(*document, "started"), out.run.libhbf_version = text_of(*document, "libhbf_version");
        if (auto took = document->get("elapsed_seconds")) out.run.elapsed_seconds += took->number().value_or(0);
        out.documents.push_back(std::move(*document));
    }
    for (auto &row : out.run.rows) row.queue = measure::summarize(row.gbs);
    return out;
}

std::string launches_text(const Run &run) {
    std::string out;
    auto line = [&](const Row &row, const std::string &text) { out += text + (row.emulated ? "  [emulated]" : "") + "\n"; };
    for (const auto &row : run.rows) {
        const auto status = fmt::format("{:<6}", to_string(row.status));
        if (row.status != Status::pass) {
            line(row, coloured(status, row.status == Status::skipped ? Colour::yellow : Colour::red) + row.src);
            line(row, "      " + row.reason);
            continue;
        }
        line(row, fmt::format("{}{}  {}", coloured(status, Colour::green), row.src, coloured(figure(row), Colour::bold)));
        std::string medians;
        for (double one : row.gbs) medians += (medians.empty() ? "" : ", ") + format_significant(one);
        const auto how = row.queue.ci95
                             ? fmt::format("95% CI {}..{} by order statistics over the launches",
                                           format_significant(row.queue.ci95->low), format_significant(row.queue.ci95->high))
                             : fmt::format("no ±: an interval over launches takes {}", measure::StopRule::fewest);
        line(row, fmt::format("      median of {} launches' medians: {}; {}", row.gbs.size(), medians, how));
    }
    if (run.interrupted) out += "interrupted: what was measured until then is shown\n";
    return out + closing_line(run) + "\n";
}

std::string launches_json(const Launched &launched, const Options &options) {
    const auto &run = launched.run;
    auto rows = Json::array();
    for (const auto &row : run.rows) {
        const bool good = row.status == Status::pass;
        rows.push(Json::object(
            {{"transfer", row.src},
             {"status", status_name(row.status)},
             {"reason", row.reason},
             {"emulated", row.emulated},
             {"unit", "GB/s"},
             {"median", good ? Json(row.queue.median) : Json()},
             {"ci95_low", good && row.queue.ci95 ? Json(row.queue.ci95->low) : Json()},
             {"ci95_high", good && row.queue.ci95 ? Json(row.queue.ci95->high) : Json()},
             {"half_width", good ? Json(row.queue.half_width()) : Json()},
             {"interval", row.queue.ci95 ? "order statistics of launch medians" : "none: fewer than 6 launches"},
             {"contended_launches", row.contended},
             {"launch_medians", Json::array_of(row.gbs)}}));
    }
    auto out = Json::object({{"schema", "hbf.bandwidth.launches"},
                             {"schema_version", schema_version},
                             {"started", run.started},
                             {"elapsed_seconds", run.elapsed_seconds},
                             {"arguments", Json::array_of(options.arguments)},
                             {"seed", options.seed},
                             {"launches", launched.documents.size()},
                             {"status", verdict_name(verdict(run))},
                             {"interrupted", run.interrupted},
                             {"closing_line", closing_line(run)},
                             {"rows", rows}});
    auto documents = Json::array();
    for (const auto &document : launched.documents) documents.push(document);
    return out.set("documents", documents).dump();
}

} // namespace hbf::tools::bandwidth
