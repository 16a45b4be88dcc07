// SPDX-License-Identifier: Apache-2.0
#include "core/output/stream.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "core/common/printable.hpp"

namespace hbf {
namespace {

bool colour_wanted() {
    static const bool wanted = [] {
        const char *no_colour = std::getenv("NO_COLOR");
        const char *term = std::getenv("TERM");
        return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
               (term == nullptr || std::strcmp(term, "dumb") != 0);
    }();
    return wanted;
}

int write_failure = 0;
bool progress_shown = false;

} // namespace

std::string coloured(std::string_view text, Colour colour) {
    if (!colour_wanted() || colour == Colour::none) return std::string(text);
    const char *code = "";
    switch (colour) {
    case Colour::none:
        break;
    case Colour::green:
        code = "32";
        break;
    case Colour::red:
        code = "31";
        break;
    case Colour::yellow:
        code = "33";
        break;
    case Colour::bold:
        code = "1";
        break;
    case Colour::dim:
        code = "2";
        break;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && write_failure == 0) write_failure = errno;
}

void print_error(std::string_view text) {
    clear_progress();
    std::fflush(stdout);
    // Not fmt::print, which throws where stderr is closed: that would turn a message into a crash.
    std::string line = printable_lines(text);
    if (!line.ends_with('\n')) line.push_back('\n');
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void show_progress(std::string_view text) {
    static const bool wanted = isatty(STDERR_FILENO) != 0;
    if (!wanted) return;
    const std::string line = "\r\x1b[K" + printable(text, 100);
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
    progress_shown = true;
}

void clear_progress() {
    if (!progress_shown) return;
    std::fputs("\r\x1b[K", stderr);
    progress_shown = false;
}

bool close_output() {
    clear_progress();
    if (std::fflush(stdout) != 0 && write_failure == 0) write_failure = errno;
    if (write_failure == 0) return true;
    if (write_failure != EPIPE) print_error(fmt::format("hbf: cannot write the output: {}", std::strerror(write_failure)));
    write_failure = 0;
    return false;
}

} // namespace hbf
