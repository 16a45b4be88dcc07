// SPDX-License-Identifier: Apache-2.0
// NULL where a pointer is due is refused, and where it is allowed it is taken.
#include "conformance/suite/abi/failures.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"

namespace hbf::conformance {
namespace {

std::string name_of_refusals(const std::vector<hbf_status> &due) {
    std::string out;
    for (const hbf_status status : due) out += (out.empty() ? "" : " or ") + std::string(status_name(status));
    return out;
}

HBF_CASE("abi.argument.null_refused", {.rules = {"HBF-ABI-14"}, .kills = {"null_argument_crashes"}}) {
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
                if (status != HBF_INVALID)
                    return fmt::format("{} is NULL, and the answer is {} where {} is due", one.what, to_string(call),
                                       name_of_refusals(one.due));
            }
            Call call;
            call.status = device->queue_table().destroy(nullptr, nullptr);
            if (!call.ok()) return "queue destroy of NULL is allowed, and the answer is " + to_string(call);
            hbf_progress progress{};
            progress.struct_size = sizeof progress;
            if (device->queue_table().poll(nullptr, &progress) != HBF_INVALID)
                return std::string("poll of a NULL queue is not HBF_INVALID");
            subject.plugin().destroy(nullptr); // allowed
            if (subject.plugin().get_extension(nullptr, {"hbf.tier/1", 10}))
                return std::string("get_extension of no instance gives a table");
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
