// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "tools/bandwidth/report.hpp"

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

std::string latency(const LatencySeries &series) {
    const auto &h = series.latency.total;
    auto us = [](const measure::Histogram &of, double q) {
        return format_significant(static_cast<double>(of.quantile(q)) / 1e3, 2);
    };
    auto out = fmt::format("one 64 KiB copy, {}: p50 {} us, p90 {}, p99 {}, p99.9 {}, max {} us (n {}, {:.0f} a second)",
                           series.name, us(h, 0.5), us(h, 0.9), us(h, 0.99), us(h, 0.999), us(h, 1), h.count(),
                           series.latency.per_second());
    if (series.offered > 0) return out + fmt::format("; offered {:.0f} a second", series.offered);
    out += fmt::format("; p50 of submit {}, movement {}", us(series.latency.submit, 0.5), us(series.latency.movement, 0.5));
    if (series.latency.visible.count() > 0)
        out += fmt::format(", visible to the reader {} us", us(series.latency.visible, 0.5));
    return out;
}

// One of many shapes: a line is enough.
std::string shape_line(const Row &row) {
    auto out = fmt::format("{:<36} {}", row.spec.what, coloured(figure(row), Colour::bold));
    if (row.one_thread) {
        const auto &reference = row.references[row.one_thread->reference];
        out += fmt::format("  {} of {} x1", percent(row.one_thread->share), measure::to_string(reference.kind));
    }
    return out;
}

std::string pages_line(const Row &row) {
    auto got = [](uint64_t bytes) { return bytes == 0 ? std::string("no memory pages") : format_size(bytes); };
    return fmt::format("pages asked for: {}; got, as the kernel says: source {}, destination {}", row.pages_asked,
                       got(row.src_page_size), got(row.dst_page_size));
}

Colour colour_of(Status status) {
    switch (status) {
    case Status::pass:
        return Colour::green;
    case Status::fail:
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
    const auto name = transfer_name(row);
    auto status = coloured(fmt::format("{:<6}", to_string(row.status)), colour_of(row.status));
    if (row.status != Status::pass) {
        text.line(&row, fmt::format("{}{}", status, name));
        under(row.reason);
        for (const auto &cause : row.causes) under("likely cause: " + cause);
        return;
    }
    const bool shape_only = row.spec.op_size != 0 && !options.verbose;
    text.line(&row, status + (shape_only ? shape_line(row) : name + "  " + coloured(figure(row), Colour::bold)));
    if (shape_only) return;
    under(fmt::format("{}; verified: every byte of {} samples{}", spread(row), row.samples.size(),
                      row.spec.work == measure::Work::kernel_read ? ", by the kernel itself" : ""));
    if (row.one_thread) {
        under(fmt::format("{} of the best reference copy on one thread{} (same run: {})", percent(row.one_thread->share),
                          row.all_threads ? fmt::format(", {} of that on {} threads", percent(row.all_threads->share),
                                                        row.references[row.all_threads->reference].threads)
                                          : "",
                          references(row)));
    }
    if (row.limit) {
        under(fmt::format("{} of the {} GB/s that tier {} does at most", percent(row.limit->share),
                          format_significant(row.limit->gbs), row.limit->tier));
    }
    if (row.floor) {
        under(fmt::format("floor {} GB/s of profile '{}' ({}, {}): reached", format_significant(row.floor->gbs),
                          row.floor->profile, row.floor->source, row.floor->date));
    }
    for (const auto &series : row.latencies) under(latency(series));
    if (row.pages_asked != "best" || options.verbose) under(pages_line(row));
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

std::string status_name(Status status) {
    auto text = to_string(status);
    for (auto &c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return text;
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

std::string transfer_name(const Row &row) {
    const char *arrow = row.spec.direction == RowSpec::Direction::both ? "<->" : "->";
    auto out = fmt::format("{} {} {} {} {}", row.src, arrow, row.executor, arrow, row.dst);
    return row.spec.what.empty() ? out : out + ", " + row.spec.what;
}

std::string figure(const Row &row) {
    const auto width = row.queue.half_width();
    auto out = gbs(row.queue.median, width) + " GB/s";
    if (width) out += fmt::format(" ± {:.1f}%", *width * 100);
    if (row.is_contended()) out += fmt::format(" CONTENDED ({} of {} {})", row.contended, row.samples.size(), row.sampled);
    if (row.cache_hot) out += " cache-hot";
    if (row.page_cache == PageCache::hot) out += " page_cache=hot";
    if (!width) out += fmt::format(" ({} {} are too few for an interval)", row.queue.count, row.sampled);
    if (row.interrupted) out += " (interrupted)";
    return out;
}

Exit verdict(const Run &run) {
    auto any = [&](Status status) {
        return std::any_of(run.rows.begin(), run.rows.end(), [&](const Row &row) { return row.status == status; });
    };
    if (any(Status::fail)) return Exit::fail;
    if (any(Status::error) || run.unjudged) return Exit::error;
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
        const auto name = head.dst.empty() ? head.src : head.src + " -> " + head.dst;
        return fmt::format("No bandwidth: {}: {}{}", name, head.reason, emulated);
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
    for (const auto &note : run.notes) text.line(nullptr, note);
    for (const auto &row : run.rows) row_lines(text, row, options);
    if (run.interrupted) text.line(nullptr, "interrupted: what was measured until then is shown");
    text.line(nullptr, closing_line(run));
    return text.take();
}

} // namespace hbf::tools::bandwidth
