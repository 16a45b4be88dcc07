// SPDX-License-Identifier: Apache-2.0
#include "core/output/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/common/printable.hpp"
#include "core/output/terminal.hpp"

namespace hbf {
namespace {

std::string_view variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

bool is_dumb() {
    return variable("TERM") == "dumb";
}

bool automatic_colour() {
    if (!variable("NO_COLOR").empty()) return false;
    if (const auto force = variable("CLICOLOR_FORCE"); !force.empty() && force != "0") return true;
    return isatty(STDOUT_FILENO) != 0 && !is_dumb();
}

ColourWhen colour_when = ColourWhen::automatic;
int plain_texts = 0;

bool colour_wanted() {
    if (plain_texts > 0 || colour_when == ColourWhen::never) return false;
    static const bool wanted = automatic_colour();
    return colour_when == ColourWhen::always || wanted;
}

unsigned columns_of(int fd) {
    winsize size = {};
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int write_failure = 0;
bool progress_shown = false;
size_t printed = 0;

std::vector<std::string> &errors() {
    static std::vector<std::string> all;
    return all;
}

} // namespace

void choose_colour(ColourWhen when) {
    colour_when = when;
}

PlainText::PlainText() {
    ++plain_texts;
}
PlainText::~PlainText() {
    --plain_texts;
}

unsigned output_width() {
    constexpr unsigned least = 20, usual = 80;
    const auto asked = variable("COLUMNS");
    unsigned width = 0;
    const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), width);
    if (error != std::errc{} || end != asked.data() + asked.size() || width == 0) width = columns_of(STDOUT_FILENO);
    return width == 0 ? usual : std::max(width, least);
}

size_t printed_bytes() {
    return printed;
}

const std::vector<std::string> &printed_errors() {
    return errors();
}

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
    printed += text.size();
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && write_failure == 0) write_failure = errno;
}

void print_error(std::string_view text) {
    clear_progress();
    std::fflush(stdout);
    // Not fmt::print, which throws where stderr is closed: that would turn a message into a crash.
    std::string line = printable_lines(text);
    errors().push_back(line);
    if (!line.ends_with('\n')) line.push_back('\n');
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void show_progress(std::string_view text) {
    static const bool wanted = isatty(STDERR_FILENO) != 0 && !is_dumb();
    if (!wanted) return;
    // A line that wraps could not be overwritten; four columns are for "..." and the cursor.
    const unsigned columns = columns_of(STDERR_FILENO);
    const std::string line = "\r\x1b[K" + printable(text, columns < 20 ? 76 : columns - 4);
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
