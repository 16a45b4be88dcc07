// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/output/stream.hpp"

namespace hbf {

struct Cell {
    std::string text;
    Colour colour = Colour::none;
    Cell(std::string t, Colour c = Colour::none) : text(std::move(t)), colour(c) {} // NOLINT: a text is a cell
    Cell(const char *t) : text(t) {}                                                // NOLINT
};

// Columns as wide as their widest cell; a header that starts with '>' is right-aligned, numbers below it too.
std::string format_table(const std::vector<std::string> &header, const std::vector<std::vector<Cell>> &rows,
                         const std::string &indent = "");

} // namespace hbf
