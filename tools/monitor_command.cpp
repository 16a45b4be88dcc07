// SPDX-License-Identifier: Apache-2.0
// hbf monitor: what the KV caches of this machine's processes do, read from the page that each shows.
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "core/engine/observe/view.hpp"
#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/monitor/report.hpp"
#include "tools/monitor/serve.hpp"
#include "tools/signals.hpp"

namespace hbf::tools {
namespace {

using kv::observe::View;
using monitor::Snapshot;

constexpr uint64_t no_port = UINT64_MAX;

struct Flags {
    std::string pid;
    bool once = false, json = false, dump = false, no_hits = false, list = false, metrics = false;
    std::string why, listen;
    uint64_t port = no_port;
    double interval = 1;

    bool serve() const { return port != no_port; }
    int questions() const { return dump + no_hits + !why.empty() + list + serve() + metrics; }
};

int code(Exit exit) {
    return static_cast<int>(exit);
}

int refuse(Exit exit, const std::string &why) {
    print_error("hbf monitor: " + why);
    return code(exit);
}

std::string listed(const std::vector<kv::observe::PageFile> &files) {
    std::string out;
    for (const auto &file : files) {
        const auto view = View::open(file);
        out += fmt::format("{:>8}  {:<16} {}\n", file.pid, file.program,
                           view ? view->name() + ", placement " + view->policy() : view.error().message);
    }
    return out;
}

// The caches that are meant: of the process that was named, or all that can be seen.
Result<std::vector<View>> views_of(const Flags &flags) {
    std::vector<kv::observe::PageFile> files;
    if (flags.pid.empty()) {
        files = kv::observe::find_pages();
    } else {
        const auto pid = parse_number(flags.pid);
        if (!pid || *pid == 0 || *pid > UINT32_MAX)
            return tl::unexpected(Error{Code::invalid, fmt::format("'{}' is no process id", flags.pid)});
        files = kv::observe::find_pages_of(static_cast<uint32_t>(*pid));
        if (files.empty()) {
            const auto process = kv::observe::look_at(static_cast<uint32_t>(*pid));
            if (process.state == '-')
                return tl::unexpected(Error{Code::unavailable, fmt::format("there is no process {}", *pid)});
            return tl::unexpected(
                Error{Code::unavailable,
                      fmt::format("process {} ({}) shows no KV cache, or not to this user: run as its user or as root", *pid,
                                  process.program)});
        }
    }
    std::vector<View> out;
    std::string first;
    for (const auto &file : files) {
        auto view = View::open(file);
        if (view)
            out.push_back(std::move(*view));
        else if (first.empty())
            first = view.error().message;
    }
    if (out.empty() && !first.empty()) return tl::unexpected(Error{Code::invalid, first});
    return out;
}

std::vector<Snapshot> take_all(const std::vector<View> &views) {
    std::vector<Snapshot> out;
    for (const auto &view : views) out.push_back(monitor::take(view));
    return out;
}

int show_once(const Flags &flags, const std::vector<View> &views) {
    const auto all = take_all(views);
    if (flags.json) {
        auto caches = Json::array();
        for (const auto &one : all) caches.push(monitor::report_json(one));
        print(all.size() == 1 ? monitor::report_json(all.front()).dump() : caches.dump());
        return code(Exit::pass);
    }
    for (size_t i = 0; i < all.size(); ++i) print((i ? "\n" : "") + monitor::report_text(all[i]));
    return code(Exit::pass);
}

int answer(const Flags &flags, const View &view) {
    const auto now = monitor::take(view);
    if (flags.dump) {
        print(monitor::dump_scheduler(view, now));
    } else if (flags.no_hits) {
        print(monitor::why_no_hits(now));
    } else {
        const auto id = parse_number(flags.why);
        if (!id || *id > UINT32_MAX) return refuse(Exit::usage, fmt::format("--why '{}': the number of a block", flags.why));
        const auto text = monitor::why_block(view, now, static_cast<uint32_t>(*id));
        if (text.empty())
            return refuse(Exit::error,
                          fmt::format("--why {}: there is no such block; numbers are below {}, --dump-scheduler-state "
                                      "lists those in use",
                                      *id, view.block_room()));
        print(text);
    }
    return code(Exit::pass);
}

void rest(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!interrupted() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// Until it is interrupted, or the process is gone.
int watch(const Flags &flags, const std::vector<View> &views) {
    const bool screen = ::isatty(STDOUT_FILENO) != 0;
    std::vector<Snapshot> before;
    while (!interrupted()) {
        auto now = take_all(views);
        std::string text = screen ? "\x1b[H\x1b[J" : "";
        bool all_gone = true;
        for (size_t i = 0; i < now.size(); ++i) {
            text += (i ? "\n" : "") + monitor::report_text(now[i], before.empty() ? nullptr : &before[i]);
            all_gone &= now[i].gone();
        }
        print(text + (screen ? "" : "\n"));
        if (all_gone) return refuse(Exit::error, "the process has ended: this is the last that it showed");
        before = std::move(now);
        rest(flags.interval);
    }
    return code(Exit::pass); // that is how it ends
}

int serve(const Flags &flags) {
    monitor::Serving serving;
    if (!flags.listen.empty()) serving.address = flags.listen;
    serving.port = static_cast<uint16_t>(flags.port);
    serving.metrics = [&flags] { // processes come and go
        const auto views = views_of(flags);
        return monitor::report_metrics(views ? take_all(*views) : std::vector<Snapshot>{});
    };
    serving.stop = [] { return interrupted() != 0; };
    serving.ready = [](const std::string &url) { print_error("hbf monitor: metrics at " + url); };
    if (const auto served = monitor::serve_metrics(serving); !served)
        return refuse(served.error().code == Code::invalid ? Exit::usage : Exit::error,
                      "--listen: " + served.error().message);
    return code(Exit::pass);
}

int run_monitor(const Flags &flags) {
    if (!flags.listen.empty() && !flags.serve()) return refuse(Exit::usage, "--listen needs --serve PORT");
    if (flags.questions() > 1)
        return refuse(Exit::usage,
                      "one question at a time: --dump-scheduler-state, --why, --why-no-hits, --list, --metrics or --serve");
    catch_signals();
    if (flags.serve()) return serve(flags);
    if (flags.list) {
        const auto text = listed(kv::observe::find_pages());
        if (text.empty()) return refuse(Exit::untested, "no process that this user may see shows a KV cache");
        print(text);
        return code(Exit::pass);
    }
    auto views = views_of(flags);
    if (!views)
        return refuse(views.error().code == Code::invalid && !flags.pid.empty() ? Exit::usage : Exit::error,
                      views.error().message);
    if (views->empty()) return refuse(Exit::untested, "no process that this user may see shows a KV cache");
    if (flags.metrics) {
        print(monitor::report_metrics(take_all(*views)));
        return code(Exit::pass);
    }
    if (flags.dump || flags.no_hits || !flags.why.empty()) {
        if (views->size() > 1)
            return refuse(Exit::usage, fmt::format("{} caches are here, name the process:\n{}", views->size(),
                                                   listed(kv::observe::find_pages())));
        return answer(flags, views->front());
    }
    return flags.once || flags.json ? show_once(flags, *views) : watch(flags, *views);
}

} // namespace

Command monitor_command() {
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "monitor";
    command.summary = "what a running KV cache does: tiers, heat, moves, prefetch, errors";
    command.description =
        "Reads the page of shared memory that each cache shows (libhbf-kv). The process is asked for nothing, so this works "
        "while it is stopped, or while its threads wait for each other. Without PID: every cache that this user may see.";
    command.group = "Look";
    command.exits = {{Exit::pass, "shown; also when it was ended with Ctrl-C"},
                     {Exit::error, "no such process, block or page, or the process ended"},
                     {Exit::untested, "no cache is running"}};
    command.examples = "  hbf monitor                              all caches, live\n"
                       "  hbf monitor 4711 --once --json           one cache, for programs\n"
                       "  hbf monitor 4711 --why 815               why block 815 is where it is\n"
                       "  hbf monitor 4711 --why-no-hits           where lookups of prompts end\n"
                       "  hbf monitor 4711 --dump-scheduler-state  every block, also of a process that hangs\n"
                       "  hbf monitor --serve 9400                 metrics for Prometheus, on 127.0.0.1\n";
    command.options = {
        {"PID", &flags->pid, "PID", "the process"},
        {"--once", &flags->once, "", "once, and end"},
        {"--json", &flags->json, "", "once, as a JSON document (hbf.monitor; a list of them of several caches)"},
        {"--interval", Real{&flags->interval, 0.1, 3600}, "SECONDS", "between two looks (default: 1)"},
        {"--why", &flags->why, "BLOCK", "why a block is where it is"},
        {"--why-no-hits", &flags->no_hits, "", "where lookups of prompts end, and what would help"},
        {"--dump-scheduler-state", &flags->dump, "", "thresholds, locks, threads, and a line a block"},
        {"--list", &flags->list, "", "processes with a cache"},
        {"--metrics", &flags->metrics, "", "once, as Prometheus reads it"},
        {"--serve", Number{&flags->port, 0, 65535}, "PORT", "metrics over HTTP at /metrics; 0: any free port"},
        {"--listen", &flags->listen, "ADDRESS", "of --serve (default: 127.0.0.1; 0.0.0.0 shows them to the network)"},
    };
    command.run = [flags] { return run_monitor(*flags); };
    return command;
}

} // namespace hbf::tools
