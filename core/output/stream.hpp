// SPDX-License-Identifier: Apache-2.0
// What people see: stdout for results, stderr for errors and progress. Colour and progress only on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hbf {

enum class Colour { none, green, red, yellow, bold, dim };

// When there is colour, and how that is chosen: terminal.hpp.
std::string coloured(std::string_view text, Colour colour);

void print(std::string_view text);       // stdout, as given
void print_error(std::string_view text); // stderr, a line or more; what could steer a terminal is shown as \xNN

// One line that is overwritten; nothing unless stderr is a terminal. clear_progress() before other output.
void show_progress(std::string_view text);
void clear_progress();

// Flushes stdout; false, with the reason on stderr, if not everything could be written (full disk, closed pipe).
bool close_output();

} // namespace hbf
