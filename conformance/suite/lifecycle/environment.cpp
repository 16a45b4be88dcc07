// SPDX-License-Identifier: Apache-2.0
// The process is the host's: a whole life of an instance leaves it as it was.
#include <cstdio>

#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/visible.hpp"
#include "conformance/suite/whose_code.hpp"

namespace hbf::conformance {
namespace {

// In the child, so that what is printed is caught and nothing but this life counts.
std::string change_of_a_life(Context &context) {
    Subject &subject = context.subject();
    const Visible before = look();
    const auto changed = [&](const char *by, const Visible &now) {
        const std::string change = first_change(before, now);
        return change.empty() ? std::string() : by + (": " + change);
    };
    subject.must_probe();
    std::string said = changed("by probe", look());
    Visible first;
    // Twice where a driver came with the first life: see left_behind.
    for (int life = 0; life < (drivers().empty() ? 1 : 2); ++life) {
        const auto device = subject.must_create();
        workout(*device, context.seed(), "an instance");
        if (device->health_table()) device->must_read_health();
        Visible alive = look();
        if (life == 0) first = alive;
        // While it lives it may have threads and descriptors; nothing else is its own. Of each life by itself: the second
        // may put back what the first changed.
        alive.threads = before.threads;
        alive.descriptors = before.descriptors;
        if (said.empty()) said = changed("by a living instance", alive);
    }
    if (said.empty()) {
        const std::string left = left_behind(before, first, 3);
        if (!left.empty()) said = "by an instance that was destroyed: " + left;
    }
    std::fflush(nullptr); // what the plugin printed and the C library still holds
    return said;
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
