// SPDX-License-Identifier: Apache-2.0
// Text filled to a width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hbf::tools {

// Columns a UTF-8 text takes, as far as we print such ("±"): continuation bytes take none.
size_t columns(std::string_view text);

// Words of `text`, each blank or line end parting two, in lines of at most `width` columns; a longer word has its own line.
std::vector<std::string> fill(std::string_view text, size_t width);

// A description as paragraphs. Lines that follow each other are one; a line that begins with a blank is kept as it is.
struct Paragraph {
    std::string text;
    bool kept = false;
};
std::vector<Paragraph> paragraphs(std::string_view description);

} // namespace hbf::tools
