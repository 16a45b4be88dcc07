// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_child.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include "core/loader/text.hpp"

namespace hbf::loader {

Result<> ProbeChild::start(const std::filesystem::path &program, const ProbeJob &job) {
    ChildSetup setup;
    setup.program = program;
    setup.environment = job.environment;
    setup.input = encode(job.request);
    setup.folder = std::string("/"); // not a literal: g++ 12 warns wrongly
    setup.time = time_;
    setup.output_limit = output_limit_;
    setup.ends_its_own = true;
    return process_.start(setup);
}

std::optional<ProbeRecord> ProbeChild::answer() const {
    const size_t at = process_.answer().rfind("\nrecord ");
    if (at == std::string::npos || !process_.answer().ends_with('\n')) return std::nullopt;
    return decode_record(std::string_view(process_.answer()).substr(at + 8));
}

ProbeOutcome ProbeChild::outcome() const {
    ProbeOutcome outcome;
    outcome.milliseconds = process_.seconds() * 1000;
    ProbeStep step = ProbeStep::start;
    for (const std::string &line : split(process_.answer(), '\n')) {
        if (line.starts_with("step ")) step = step_from(std::string_view(line).substr(5)).value_or(step);
    }
    const bool creating = step == ProbeStep::create || step == ProbeStep::destroy;
    const auto status = process_.status();
    const bool exited_well = !status || (WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
    if (process_.flooded()) {
        outcome.record.reason = creating ? Reason::create_failed : Reason::probe_failed;
        outcome.record.detail = fmt::format(
            "printed more than {} KiB in {} and was stopped; a plugin writes to the host's log, not to stdout or stderr",
            output_limit_ / 1024, to_string(step));
    } else if (process_.timed_out()) {
        const double seconds = std::chrono::duration<double>(time_).count();
        outcome.record.reason = creating ? Reason::create_failed : Reason::probe_timeout;
        outcome.record.detail =
            fmt::format("did not return from {} within {:.3g} s and was stopped; remedy: if the driver is only slow, "
                        "raise plugins.probe_timeout_s",
                        to_string(step), seconds);
    } else if (auto record = answer(); record && exited_well) {
        outcome.record = std::move(*record);
        outcome.answered = true;
        if (process_.output_size() > 0) {
            outcome.record.notes.push_back(fmt::format("printed {} bytes while it was probed: {}", process_.output_size(),
                                                       printable(last_line(process_.output()), 160)));
        }
    } else if (!status) {
        outcome.record.detail =
            fmt::format("ended in {} without an answer; why is not known, since this program ignores SIGCHLD or "
                        "waits for every child itself",
                        to_string(step));
    } else {
        Refusal refusal = refusal_of_end(*status, step, process_.output());
        outcome.record.reason = refusal.reason;
        outcome.record.detail = std::move(refusal.detail);
    }
    return outcome;
}

Refusal refusal_of_end(int status, ProbeStep step, std::string_view output) {
    const bool creating = step == ProbeStep::create || step == ProbeStep::destroy;
    const std::string said = output.empty() ? "" : fmt::format("; it printed: {}", printable(last_line(output), 200));
    if (WIFSIGNALED(status)) {
        return {creating ? Reason::create_failed : Reason::probe_crashed,
                fmt::format("crashed with {} in {}{}", signal_name(WTERMSIG(status)), to_string(step), said)};
    }
    return {creating ? Reason::create_failed : Reason::probe_failed,
            fmt::format("exited with status {} before answering, in {}{}", WEXITSTATUS(status), to_string(step), said)};
}

} // namespace hbf::loader
