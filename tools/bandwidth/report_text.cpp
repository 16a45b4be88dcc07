// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "tools/bandwidth/report.hpp"
#include "tools/output/size.hpp"
#include "tools/output/stream.hpp"

namespace hbf::tools::bandwidth {
namespace {

std::string percent(double share) {
    return format_significant(share * 100, share < 0.1 ? 2 : 3) + "%";
}

// No more digits than the interval supports: with ± 4 % the fourth says nothing.
std::string gbs(double value, const std::optional<double> &half_width) {
    return format_significant(value, half_width && *half_width > 0.01 ? 3 : 4);
}

std::string spread(const Row &row) {
    const auto &q = row.queue;
    std::string out = fmt::format("median of {}", q.count);
    if (q.ci95) out += fmt::format(", 95% CI {}..{}", format_significant(q.ci95->low), format_significant(q.ci95->high));
    out += fmt::format("; min {} p5 {} p95 {} max {}", format_significant(q.min), format_significant(q.p5),
                       format_significant(q.p95), format_significant(q.max));
    return out;
}

std::string references(const Row &row) {
    std::string out;
    for (const auto &series : row.references) {
        if (series.gbs.empty()) continue;
        if (!out.empty()) out += ", ";
        out += fmt::format("{} x{} {}", measure::to_string(series.kind), series.threads,
                           format_significant(measure::summarize(series.gbs).median));
    }
    return out;
}

std::string clocks(const Row &row) {
    const auto gated =
        std::count_if(row.samples.begin(), row.samples.end(), [](const SampleRecord &r) { return r.sample.gated; });
    if (gated * 2 < static_cast<std::ptrdiff_t>(row.samples.size())) {
        return fmt::format(
            "host wall {} GB/s, submit included (no gate: the executor works in the submitting or waiting thread)",
            format_significant(row.wall.median));
    }
    return fmt::format("queue clock {} GB/s behind a gate, host wall {} GB/s, overhead_us {}",
                       format_significant(row.queue.median), format_significant(row.wall.median),
                       format_significant(row.overhead_us, 3));
}

std::string shape(const Row &row) {
    auto out = fmt::format("{} a buffer, {} a sample, {} a copy, {} copies a batch, depth {}; count=copied_once",
                           format_size(row.bytes), format_size(row.sample_bytes), format_size(row.op_size), row.batch_ops,
                           row.depth);
    if (row.page_cache != PageCache::not_used) out += "; page_cache=" + to_string(row.page_cache);
    return out;
}

std::string placement(const Row &row) {
    auto out = fmt::format("cpu {} on node {}{}", row.cpu.cpu, row.cpu.node, row.bound ? "" : " (not bound)");
    if (!row.src_pages.empty())
        out += fmt::format("; source on {}, {} pages", pages_text(row.src_pages), format_size(row.src_page_size));
    if (!row.dst_pages.empty()) {
        out += fmt::format("; destination on {}, {} pages", pages_text(row.dst_pages), format_size(row.dst_page_size));
    }
    return out;
}

std::string latency(const measure::Histogram &h) {
    auto us = [&](double q) { return format_significant(static_cast<double>(h.quantile(q)) / 1e3, 2); };
    return fmt::format("one 64 KiB copy, submit to completion: p50 {} us, p90 {}, p99 {}, p99.9 {}, max {} us (n {})",
                       us(0.5), us(0.9), us(0.99), us(0.999), format_significant(static_cast<double>(h.max()) / 1e3, 2),
                       h.count());
}

Colour colour_of(Status status) {
    switch (status) {
    case Status::pass:
        return Colour::green;
    case Status::fail:
        return Colour::red;
    case Status::error:
        return Colour::red;
    case Status::skipped:
        return Colour::yellow;
    }
    return Colour::none;
}

class Text {
public:
    void line(const Row *row, const std::string &text) {
        out_ += text + (row != nullptr && row->emulated ? "  [emulated]" : "") + "\n";
    }
    std::string take() { return std::move(out_); }

private:
    std::string out_;
};

void row_lines(Text &text, const Row &row, const Options &options) {
    auto under = [&](const std::string &what) { text.line(&row, "      " + what); };
    auto name = fmt::format("{} -> {} -> {}", row.src, row.executor, row.dst);
    auto status = coloured(fmt::format("{:<6}", to_string(row.status)), colour_of(row.status));
    if (row.status != Status::pass) {
        text.line(&row, fmt::format("{}{}", status, name));
        under(row.reason);
        for (const auto &cause : row.causes) under("likely cause: " + cause);
        return;
    }
    text.line(&row, fmt::format("{}{}  {}", status, name, coloured(figure(row), Colour::bold)));
    under(fmt::format("{}; verified: every byte of {} samples", spread(row), row.samples.size()));
    if (row.one_thread) {
        under(fmt::format("{} of the best reference copy on one thread{} (same run: {})", percent(row.one_thread->share),
                          row.all_threads ? fmt::format(", {} of that on {} threads", percent(row.all_threads->share),
                                                        row.references[row.all_threads->reference].threads)
                                          : "",
                          references(row)));
    }
    if (row.floor) {
        under(fmt::format("floor {} GB/s of profile '{}' ({}, {}): reached", format_significant(row.floor->gbs),
                          row.floor->profile, row.floor->source, row.floor->date));
    }
    if (row.latency && row.latency->count() > 0) under(latency(*row.latency));
    if (options.verbose || row.storage) under(shape(row));
    if (options.verbose) {
        under(clocks(row));
        under(placement(row));
        under(fmt::format("warm-up {} passes; sampling ended: {}", row.warmup_passes, row.stopped));
    }
    for (const auto &note : row.notes) under("note: " + note);
    for (const auto &cause : row.causes) under("likely cause: " + cause);
}

} // namespace

std::string to_string(Status status) {
    switch (status) {
    case Status::pass:
        return "PASS";
    case Status::fail:
        return "FAIL";
    case Status::error:
        return "ERROR";
    case Status::skipped:
        return "SKIP";
    }
    return "?";
}

std::string to_string(PageCache cache) {
    switch (cache) {
    case PageCache::not_used:
        return "not_used";
    case PageCache::bypassed:
        return "bypassed";
    case PageCache::hot:
        return "hot";
    case PageCache::unknown:
        return "unknown";
    }
    return "unknown";
}

std::string pages_text(const std::map<int, size_t> &pages) {
    auto name = [](int node) { return node < 0 ? std::string("an unknown node") : fmt::format("node {}", node); };
    if (pages.size() == 1) return name(pages.begin()->first);
    std::string out;
    for (auto [node, count] : pages) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", name(node), count);
    return out;
}

std::string figure(const Row &row) {
    const auto width = row.queue.half_width();
    auto out = gbs(row.queue.median, width) + " GB/s";
    if (width) out += fmt::format(" ± {:.1f}%", *width * 100);
    if (row.is_contended()) out += fmt::format(" CONTENDED ({} of {} samples)", row.contended, row.samples.size());
    if (row.cache_hot) out += " cache-hot";
    if (row.page_cache == PageCache::hot) out += " page_cache=hot";
    if (!width) out += fmt::format(" ({} samples are too few for an interval)", row.queue.count);
    if (row.interrupted) out += " (interrupted)";
    return out;
}

Exit verdict(const Run &run) {
    auto any = [&](Status status) {
        return std::any_of(run.rows.begin(), run.rows.end(), [&](const Row &row) { return row.status == status; });
    };
    if (any(Status::fail)) return Exit::fail;
    if (any(Status::error)) return Exit::error;
    return any(Status::pass) ? Exit::pass : Exit::untested;
}

std::string closing_line(const Run &run) {
    if (run.rows.empty()) return "No bandwidth: nothing to test";
    const bool failed =
        std::any_of(run.rows.begin(), run.rows.end(), [](const Row &row) { return row.status == Status::fail; });
    const auto &head = run.rows.front();
    const std::string emulated = head.emulated ? " [emulated]" : "";
    if (failed) {
        auto bad =
            std::count_if(run.rows.begin(), run.rows.end(), [](const Row &row) { return row.status == Status::fail; });
        return fmt::format("FAIL: {} of {} transfers failed{}{}", bad, run.rows.size(),
                           run.interrupted ? " (interrupted)" : "", emulated);
    }
    if (head.status != Status::pass) {
        return fmt::format("No bandwidth: {} -> {}: {}{}", head.src, head.dst, head.reason, emulated);
    }
    return fmt::format("Measured bandwidth: {}{}", figure(head), emulated);
}

std::string report_text(const Run &run, const Machine &machine, const Options &options) {
    Text text;
    const auto &inventory = machine.inventory();
    auto setting = [&](const char *name) {
        auto found = inventory.settings.find(name);
        return found != inventory.settings.end() && found->second.value ? *found->second.value : std::string("unknown");
    };
    text.line(nullptr, fmt::format("{}, {}{}; kernel {}; THP {}; numa_balancing {}", run.started, inventory.cpu_model,
                                   inventory.hypervisor.empty() ? "" : ", virtual machine (" + inventory.hypervisor + ")",
                                   inventory.kernel, setting("thp"), setting("numa_balancing")));
    text.line(nullptr, fmt::format("seed {}; bytes are copied bytes, counted once; 1 GB = 1e9 bytes", run.seed));
    for (const auto &row : run.rows) row_lines(text, row, options);
    if (run.interrupted) text.line(nullptr, "interrupted: what was measured until then is shown");
    text.line(nullptr, closing_line(run));
    return text.take();
}

} // namespace hbf::tools::bandwidth
