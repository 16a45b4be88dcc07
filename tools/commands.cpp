// SPDX-License-Identifier: Apache-2.0
#include "tools/commands.hpp"

namespace hbf::tools {

// One line a subcommand: declare it in commands.hpp, list it here.
std::vector<Command> all_commands() {
    return {
        probe_command(),  bandwidth_command(), bench_command(),      conformance_command(), corruption_command(),
        doctor_command(), emulate_command(),   monitor_command(),    profile_command(),     replay_command(),
        plugin_command(), config_command(),    completion_command(), version_command(),
    };
}

} // namespace hbf::tools
