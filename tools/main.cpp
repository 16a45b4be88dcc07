// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/signals.hpp"

namespace {

// With one of the three closed, the next file opened would take its number, and output would go into it. What is opened
// instead cannot be written (or read), so that lost output is still noticed.
void hold_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) std::_Exit(3);
    }
}

} // namespace

int main(int argc, char **argv) {
    using namespace hbf::tools;
    hold_standard_descriptors();
    catch_signals();
    try {
        return run_command_line(all_commands(), argc, argv);
    } catch (const std::exception &error) {
        hbf::print_error(fmt::format("hbf: {}", error.what()));
        return static_cast<int>(Exit::error);
    }
}
