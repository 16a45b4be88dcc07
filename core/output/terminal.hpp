// SPDX-License-Identifier: Apache-2.0
// How this process talks to whoever watches it. Set once, before anything is printed; not for several threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hbf {

// automatic: on a terminal, unless NO_COLOR is set (and not empty) or TERM is "dumb"; without a terminal only if
// CLICOLOR_FORCE is set (neither empty nor "0").
enum class ColourWhen { automatic, always, never };
void choose_colour(ColourWhen when);

// While it lives, text is made for a file: without colour, whatever was chosen.
class PlainText {
public:
    PlainText();
    ~PlainText();
    PlainText(const PlainText &) = delete;
    PlainText &operator=(const PlainText &) = delete;
};

// Columns of stdout: COLUMNS, else the terminal's, else 80. At least 20.
unsigned output_width();

// What this process has said so far, for whoever must decide what is still to be said.
size_t printed_bytes();                           // by print()
const std::vector<std::string> &printed_errors(); // each text given to print_error()

} // namespace hbf
