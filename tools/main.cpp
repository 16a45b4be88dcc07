// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include "tools/commands.hpp"
#include "tools/output/stream.hpp"
#include "tools/signals.hpp"

int main(int argc, char **argv) {
    using namespace hbf::tools;
    catch_signals();
    try {
        return run_command_line(all_commands(), argc, argv);
    } catch (const std::exception &error) {
        print_error(fmt::format("hbf: {}", error.what()));
        return static_cast<int>(Exit::error);
    }
}
