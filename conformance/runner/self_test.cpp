// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/self_test.hpp"

#include <fmt/format.h>

namespace hbf::conformance {

const std::vector<std::string> &self_test_faults() {
    static const std::vector<std::string> faults = {
        "flip,after=2",        "stuck,after=2",          "drop-tail,after=2",      "stale,after=2",
        "not-written,after=2", "misdirect,after=2",      "torn,stays=yes,after=2", "guard-write,after=2",
        "short-read,after=2",  "truncate-32bit,bits=16", "reorder,after=2",        "early-completion,after=2",
        "twice,after=2",       "swallow-error"};
    return faults;
}

CaseArguments behind_wrapper(CaseArguments arguments, const std::string &wrapper, const std::string &faults) {
    // The plugin may be the wrapper itself: then these are the inner one's.
    for (auto &[key, value] : arguments.subject.options)
        if (key.starts_with("inject.")) key.insert(sizeof "inject." - 1, "inner.");
    arguments.subject.options.emplace_back("inject.plugin", arguments.subject.plugin_file);
    if (!faults.empty()) arguments.subject.options.emplace_back("inject.fault", faults);
    arguments.subject.plugin_file = wrapper;
    return arguments;
}

SelfTest run_self_test(const CaseProcess &how, const CaseEntry &entry, const std::string &wrapper,
                       const CaseArguments &arguments, uint32_t declared) {
    SelfTest out;
    CaseArguments plain = behind_wrapper(arguments, wrapper, "");
    plain.subject.mask = 0;
    const auto clean = run_case_process(how, entry, plain, "");
    if (!clean || clean->status != Status::pass) {
        out.line = fmt::format("self-test: not possible, the device fails without a fault: {}",
                               clean ? clean->reason : clean.error());
        return out;
    }
    size_t found = 0, tried = 0;
    std::string missed;
    for (const std::string &fault : self_test_faults()) {
        if (fault.starts_with("short-read") && !(declared & need::dma_only_tier)) continue; // no storage to read from
        ++tried;
        CaseArguments faulty = behind_wrapper(arguments, wrapper, fault);
        faulty.subject.mask = 0;
        const auto record = run_case_process(how, entry, faulty, "");
        if (record && record->status == Status::interrupted) break;
        // Only what the case itself says: a wrapper that cannot be opened finds nothing.
        if (record && record->status == Status::fail && record->checks > 0)
            ++found;
        else
            missed += fmt::format("{}{} ({})", missed.empty() ? "" : ", ", fault.substr(0, fault.find(',')),
                                  record ? std::string(to_string(record->status)) : record.error());
    }
    out.passed = found == tried;
    out.line = fmt::format("self-test: {}/{} injected faults found", found, tried);
    if (!missed.empty()) out.line += "; not found: " + missed;
    return out;
}

} // namespace hbf::conformance
