// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_end.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <sys/wait.h>

#include "conformance/runner/record_channel.hpp"
#include "conformance/runner/record_json.hpp"
#include "core/common/printable.hpp"

namespace hbf::conformance {
namespace {

// What a case may say of itself; the rest only the runner does.
bool may_say(Status status) {
    switch (status) {
    case Status::pass:
    case Status::fail:
    case Status::not_supported:
    case Status::not_observable:
    case Status::inconclusive:
    case Status::warn_quality:
    case Status::warn_capability:
    case Status::device_lost:
    case Status::internal_error:
        return true;
    default:
        return false;
    }
}

std::string last_line(std::string_view text) {
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return printable(text.substr(text.rfind('\n') + 1), 200);
}

std::string log_of(const CaseEnd &end, const std::string &plugin_log) {
    std::string out;
    if (end.output_size > end.output.size())
        out = fmt::format("(the first {} bytes printed are left out)\n", end.output_size - end.output.size());
    out += end.output;
    if (!out.empty() && out.back() != '\n') out += '\n';
    return out + plugin_log;
}

tl::expected<CaseRecord, ChannelFault> record_in(const CaseRecord &expected, const CaseEnd &end) {
    const auto broken = [](std::string what) { return tl::unexpected(ChannelFault{ChannelFault::broken, std::move(what)}); };
    const auto text = unframed(end.received);
    if (!text) return tl::unexpected(text.error());
    const auto json = Json::parse(*text);
    if (!json) return broken("the record is no JSON: " + json.error());
    auto record = case_record_from(*json);
    if (!record) return broken("the record does not hold: " + record.error());
    if (record->name != expected.name) return broken(fmt::format("the record is of {}", printable(record->name, 120)));
    if (!may_say(record->status))
        return broken(fmt::format("the record says {}, which no case may", to_string(record->status)));
    if (record->seed != expected.seed || record->mask != expected.mask)
        return broken("the record is of another seed or mask");
    if (record->checks == 0 &&
        (conformant(record->status) && record->status != Status::not_supported && record->status != Status::not_observable))
        return broken(fmt::format("the record says {}, but that nothing was checked", to_string(record->status)));
    return std::move(*record);
}

std::string names_of(const std::vector<Orphan> &orphans) {
    std::string out;
    for (size_t i = 0; i < orphans.size() && i < 5; ++i)
        out += fmt::format("{}{} (process {})", i ? ", " : "", printable(orphans[i].name, 16), orphans[i].id);
    return orphans.size() > 5 ? out + ", ..." : out;
}

void set(CaseRecord &record, Status status, std::string reason) {
    record.status = status;
    record.reason = std::move(reason);
}

// Only what a process does by itself; how it was stopped is known before.
void judge_status(CaseRecord &record, const CaseEnd &end, const tl::expected<CaseRecord, ChannelFault> &said) {
    const std::string printed = end.output.empty() ? "" : "; the last it printed: " + last_line(end.output);
    if (!end.status) return set(record, Status::internal_error, "how its process ended is not known");
    const int status = *end.status;
    if (WIFSIGNALED(status)) {
        const std::string signal = signal_name(WTERMSIG(status));
        if (said)
            return set(record, Status::crash,
                       fmt::format("ended by {} after its record said {}{}", signal, to_string(said->status), printed));
        return set(record, Status::crash, fmt::format("ended by {}{}", signal, printed));
    }
    const int code = WEXITSTATUS(status);
    if (!said && said.error().kind == ChannelFault::empty)
        return set(record, Status::crash,
                   fmt::format("the process exited with status {} and without a record: the plugin ended it, or closed what "
                               "it did not open{}",
                               code, printed));
    if (!said) return set(record, Status::internal_error, fmt::format("{} (exit status {})", said.error().what, code));
    if (code != case_exit_status(said->status))
        return set(record, Status::internal_error,
                   fmt::format("its record says {}, its exit status {}{}", to_string(said->status), code, printed));
}

} // namespace

CaseEnd end_of(const ChildProcess &process) {
    CaseEnd end;
    end.received = process.answer();
    end.output = process.output();
    end.output_size = process.output_size();
    end.status = process.status();
    end.timed_out = process.timed_out();
    end.flooded = process.flooded();
    end.orphans = process.orphans();
    end.seconds = process.seconds();
    return end;
}

CaseRecord judge_end(const CaseRecord &expected, const CaseEnd &end) {
    const auto said = record_in(expected, end);
    CaseRecord record = said ? *said : expected;
    record.rules = expected.rules;
    record.replay = expected.replay;
    record.log = log_of(end, record.log);
    record.overhead_s = said ? std::max(0.0, end.seconds - record.duration_s) : 0;
    if (!said) record.duration_s = end.seconds;

    if (end.interrupted) {
        set(record, Status::interrupted,
            fmt::format("stopped by {} after {:.1f} s", signal_name(end.interrupted), end.seconds));
    } else if (end.flooded) {
        set(record, Status::fail,
            fmt::format(
                "printed more than {} MiB and was stopped; a plugin writes to the host's log, not to stdout or stderr",
                end.output_limit >> 20));
    } else if (end.timed_out) {
        set(record, Status::timeout,
            fmt::format("did not end within {:.0f} s and was stopped{}", end.limit_s,
                        said ? fmt::format("; its record said {}", to_string(said->status)) : ""));
    } else {
        judge_status(record, end, said);
    }
    if (!end.orphans.empty() && record.status != Status::interrupted) {
        const std::string left = fmt::format("left {} process{} behind, which {} ended: {}", end.orphans.size(),
                                             end.orphans.size() == 1 ? "" : "es", end.orphans.size() == 1 ? "was" : "were",
                                             names_of(end.orphans));
        if (failed(record.status))
            record.notes.push_back(left);
        else
            set(record, Status::fail, left);
        if (record.evidence.empty()) {
            Evidence evidence;
            evidence.fault_class = fault::leak;
            evidence.detail = left;
            record.evidence.push_back(std::move(evidence));
        }
    }
    return record;
}

} // namespace hbf::conformance
