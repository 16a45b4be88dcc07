// SPDX-License-Identifier: Apache-2.0
// NULL where a pointer is due is refused, and where it is allowed it is taken.
#include "conformance/suite/abi/failures.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("abi.argument.null_refused", {.rules = {"HBF-ABI-14"}, .kills = {"null_argument_crashes", "null_told_as_bug"}}) {
    // In a child: who follows a NULL crashes.
    Subject &subject = context.subject();
    std::string at; // the last call begun, told by the child if it comes back
    const Forked child = run_forked(
        [&] {
            const auto device = subject.must_create();
            const Failures failures(subject, *device);
            for (const Provoked &one : failures.nulls()) {
                fmt::print(stderr, "{}\n", one.what);
                std::fflush(stderr);
                hbf_status status = HBF_OK;
                ErrorBuffer error;
                one.call(error, status);
                const Call call = error.call(status);
                if (status != one.due.front())
                    return fmt::format("{} is NULL, and the answer is {} where {} is due", one.what, to_string(call),
                                       status_name(one.due.front()));
            }
            subject.plugin().destroy(nullptr); // allowed
            return std::string();
        },
        10);
    if (!child.well() && child.printed.size() > 1) {
        const size_t last = child.printed.rfind('\n', child.printed.size() - 2);
        at = child.printed.substr(last == std::string::npos ? 0 : last + 1);
        if (!at.empty() && at.back() == '\n') at.pop_back();
    }
    context.check(child.trouble().empty(), "a NULL is not refused: {}{}", child.trouble(),
                  at.empty() ? "" : " (" + at + ")");
}

} // namespace
} // namespace hbf::conformance
