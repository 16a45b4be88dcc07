// SPDX-License-Identifier: Apache-2.0
#include "core/output/table.hpp"

#include <algorithm>

#include "core/common/printable.hpp"

namespace hbf {
namespace {

// Columns a UTF-8 text takes, good enough for what we print ("±", "…"): continuation bytes take none.
size_t columns(const std::string &text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

std::string format_table(const std::vector<std::string> &header, const std::vector<std::vector<Cell>> &rows,
                         const std::string &indent) {
    std::vector<bool> right;
    std::vector<Cell> titles;
    for (const auto &title : header) {
        right.push_back(title.starts_with('>'));
        titles.emplace_back(right.back() ? title.substr(1) : title, Colour::bold);
    }
    std::vector<std::vector<Cell>> all{titles};
    all.insert(all.end(), rows.begin(), rows.end());
    constexpr size_t longest = 4096;
    for (auto &row : all) {
        for (Cell &cell : row) cell.text = printable(cell.text, longest);
    }
    std::vector<size_t> width(header.size(), 0);
    for (const auto &row : all) {
        for (size_t i = 0; i < row.size() && i < width.size(); ++i) width[i] = std::max(width[i], columns(row[i].text));
    }
    std::string out;
    for (const auto &row : all) {
        std::string line = indent;
        for (size_t i = 0; i < row.size() && i < width.size(); ++i) {
            std::string gap(width[i] - columns(row[i].text), ' ');
            auto text = coloured(row[i].text, row[i].colour);
            bool last = i + 1 == row.size();
            line += right[i] ? gap + text : (last ? text : text + gap);
            if (!last) line += "  ";
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

} // namespace hbf
