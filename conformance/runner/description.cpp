// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/description.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/runner/describe.hpp"
#include "conformance/runner/record_channel.hpp"
#include "conformance/runner/record_json.hpp"

namespace hbf::conformance {
namespace {

constexpr double limit_s = 60;

RunRecord undecided(std::string reason) {
    RunRecord out;
    out.verdict = "undecided";
    out.verdict_reason = std::move(reason);
    return out;
}

uint32_t bits_of(std::string_view name) {
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (need_name(bit) == name) return bit;
    return 0;
}

} // namespace

RunRecord describe_plugin(const CaseProcess &how, const CaseArguments &arguments) {
    CaseArguments full = arguments;
    full.mode = CaseArguments::describe;
    full.subject.mask = 0;
    full.record_fd = ChildProcess::answer_fd;
    full.parent = getpid();
    const auto end = run_to_end(how, full, limit_s);
    if (!end) return undecided(end.error());
    const auto text = unframed(end->received);
    if (text) {
        const auto json = Json::parse(*text);
        auto record = json ? run_record_from(*json) : tl::unexpected(json.error());
        if (record) return std::move(*record);
    }
    if (end->timed_out) return undecided(fmt::format("describing itself took the plugin more than {} s", limit_s));
    if (end->flooded) return undecided("the plugin prints without end");
    if (end->status && WIFSIGNALED(*end->status))
        return undecided(fmt::format("the process in which it was asked ended by {}", signal_name(WTERMSIG(*end->status))));
    return undecided("the process in which it was asked ended without an answer");
}

uint32_t declared_capabilities(const RunRecord &description) {
    const auto found = std::find_if(description.limits.begin(), description.limits.end(),
                                    [](const auto &fact) { return fact.first == capabilities_key; });
    if (found == description.limits.end()) return 0;
    uint32_t out = 0;
    std::string_view names = found->second;
    while (!names.empty()) {
        const auto name = names.substr(0, names.find(", "));
        names.remove_prefix(std::min(names.size(), name.size() + 2));
        out |= bits_of(name);
    }
    return out;
}

uint32_t needed_by(const CaseEntry &entry) {
    uint32_t out = 0;
    for (const std::string &name : entry.needs) out |= bits_of(name);
    return out;
}

} // namespace hbf::conformance
