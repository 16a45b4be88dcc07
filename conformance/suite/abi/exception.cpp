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

// Whether an exception escapes, and what it says. Called through a pointer without noexcept, so that one arrives here where
// the plugin lets it. Takes no memory: the next allocation may be the one that fails.
template <class Call>
bool escaped(char (&what)[256], const Call &call) {
    what[0] = '\0';
    try {
        call();
        return false;
    } catch (const std::exception &exception) {
        std::snprintf(what, sizeof what, ": %s", exception.what());
    } catch (...) {
    }
    return true;
}

// In the child. Says on stderr what it is at, for an exception that meets a noexcept function ends it.
std::string try_all(Context &context, uint64_t &failed) {
    Subject &subject = context.subject();
    const auto device = create_without_log(subject);
    const Queue queue(*device);
    for (const Operation &operation : operations(subject, *device, queue)) {
        fmt::print(stderr, "at {}\n", operation.name);
        std::fflush(stderr);
        char text[256], what[256];
        hbf_error error{sizeof error, 0, text, sizeof text, 0, 0, HBF_NO_PLACE};
        for (uint64_t nth = 0; nth <= most_per_call; ++nth) { // at 0 none fails
            FailAllocation failing(nth);
            hbf_status status = HBF_OK;
            const bool left = escaped(what, [&] { status = operation.call(&error); });
            const bool happened = failing.happened();
            failing.disarm();
            if (left) return fmt::format("an exception left {}{}", operation.name, what);
            failed += happened;
            if (status == HBF_OK) operation.undo();
            if (nth > 0 && !happened) break;
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
