// SPDX-License-Identifier: Apache-2.0
// Cases that end as one does that waited in vain for a device, without the wait.
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

CaseInfo lying() {
    return {.limit_s = 2, .hidden = true, .unproven = "tries the runner, not a plugin"};
}

void wait_in_vain(Context &context) {
    context.count_check();
    Evidence evidence;
    evidence.fault_class = fault::never_completes;
    fail("value 1 did not complete", std::move(evidence));
}

HBF_CASE("lying.waits.a", {lying()}) {
    wait_in_vain(context);
}
HBF_CASE("lying.waits.b", {lying()}) {
    wait_in_vain(context);
}
HBF_CASE("lying.waits.c", {lying()}) {
    wait_in_vain(context);
}
HBF_CASE("lying.waits.d", {lying()}) {
    wait_in_vain(context);
}

} // namespace
} // namespace hbf::conformance
