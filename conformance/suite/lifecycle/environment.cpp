// SPDX-License-Identifier: Apache-2.0
// The process is the host's: a whole life of an instance leaves it as it was.
#include <cstdio>

#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

// In the child, so that what is printed is caught and nothing but this life counts.
std::string change_of_a_life(Context &context) {
    Subject &subject = context.subject();
    const Visible before = look();
    subject.must_probe();
    if (const std::string change = first_change(before, look()); !change.empty()) return "by probe: " + change;
    Visible alive;
    {
        const auto device = subject.must_create();
        const std::string wrong = workout(*device, context.seed());
        if (!wrong.empty()) return wrong;
        if (device->health_table()) device->must_read_health();
        alive = look();
    }
    // While it lives it may have threads and descriptors; nothing else is its own.
    alive.threads = before.threads;
    alive.descriptors = before.descriptors;
    if (const std::string change = first_change(before, alive); !change.empty()) return "by a living instance: " + change;
    const Visible after = look_after_joins(before, 3);
    if (const std::string change = first_change(before, after); !change.empty())
        return "by an instance that was destroyed: " + change;
    std::fflush(nullptr); // what the plugin printed and the C library still holds
    return {};
}

HBF_CASE("lifecycle.environment.unchanged",
         {.rules = {"HBF-LIFE-9"},
          .kills = {"m43_changes_environment", "leak_descriptor", "create_changes_signal", "create_changes_locale",
                    "create_changes_directory", "create_changes_rounding", "create_changes_umask", "create_changes_mask",
                    "probe_changes_environment", "create_prints"}}) {
    const Forked child = run_forked([&] { return change_of_a_life(context); }, 15);
    context.check(child.trouble().empty(), "the process was changed {}", child.trouble());
    context.check(child.printed.empty(), "the plugin printed {} bytes instead of using the host's log: {}",
                  child.printed.size(), child.printed.substr(0, 200));
}

} // namespace
} // namespace hbf::conformance
