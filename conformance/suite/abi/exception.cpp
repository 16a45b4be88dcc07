// SPDX-License-Identifier: Apache-2.0
// No exception leaves a plugin, whatever its memory does.
#include <exception>

#include "conformance/suite/abi/failures.hpp"
#include "conformance/suite/abi/operations.hpp"
#include "conformance/suite/allocation.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t most_per_call = 40; // lifecycle.alloc_failure.each_nth_is_clean goes through all of them

// What escapes, or "". Called through a pointer without noexcept, so that an exception arrives here where the plugin lets
// it.
template <class Call>
std::string escaped(const std::string &what, const Call &call) {
    try {
        call();
        return {};
    } catch (const std::exception &exception) {
        return fmt::format("an exception left {}: {}", what, exception.what());
    } catch (...) {
        return fmt::format("an exception left {}", what);
    }
}

// In the child. Says on stderr what it is at, for an exception that meets a noexcept function ends it.
std::string try_all(Context &context, uint64_t &failed) {
    Subject &subject = context.subject();
    const auto device = create_without_log(subject);
    const Queue queue(*device);
    for (const Operation &operation : operations(subject, *device, queue)) {
        fmt::print(stderr, "at {}\n", operation.name);
        std::fflush(stderr);
        char text[256];
        hbf_error error{sizeof error, 0, text, sizeof text, 0, 0, HBF_NO_PLACE};
        hbf_status first = HBF_OK;
        std::string left = escaped(operation.name, [&] { first = operation.call(&error); });
        if (!left.empty()) return left;
        if (first == HBF_OK) operation.undo();
        for (uint64_t nth = 1; nth <= most_per_call; ++nth) {
            FailAllocation failing(nth);
            hbf_status status = HBF_OK;
            left = escaped(operation.name, [&] { status = operation.call(&error); });
            const bool happened = failing.happened();
            failing.disarm();
            if (!left.empty()) return left;
            failed += happened;
            if (status == HBF_OK) operation.undo();
            if (!happened) break;
        }
    }
    return {};
}

HBF_CASE("abi.exception.does_not_cross", {.rules = {"HBF-ABI-11"}, .kills = {"m35_throws_exception"}}) {
    const Forked child = run_forked(
        [&] {
            uint64_t failed = 0;
            const std::string left = try_all(context, failed);
            return left.empty() ? std::to_string(failed) : left;
        },
        15);
    std::string at = child.printed.substr(0, child.printed.find("terminate called"));
    if (const size_t last = at.rfind("at "); last != std::string::npos) at = at.substr(last + 3);
    while (!at.empty() && at.back() == '\n') at.pop_back();
    const bool counted = child.well() && child.said.find_first_not_of("0123456789") == std::string::npos;
    context.check(
        counted, "an allocation failed in {}: {}{}", at, child.well() ? child.said : "the process " + child.ending(),
        child.printed.find("terminate called") != std::string::npos ? ", an exception met a noexcept function" : "");
    if (child.said == "0")
        context.not_observable("the plugin takes no memory through malloc or operator new that this program could fail");
    context.note(fmt::format("{} allocations were made to fail", child.said));
}

} // namespace
} // namespace hbf::conformance
