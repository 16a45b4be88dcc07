// SPDX-License-Identifier: Apache-2.0
#include "core/common/suggest.hpp"

#include <algorithm>
#include <array>

namespace hbf {
namespace {

constexpr size_t longest = 128; // longer words are no slips; also bounds the work on hostile input

// Edit distance with swaps of neighbours, three rows at a time.
size_t edits(std::string_view a, std::string_view b) {
    std::array<std::array<size_t, longest + 1>, 3> rows{};
    for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        auto &row = rows[i % 3];
        const auto &above = rows[(i + 2) % 3];
        const auto &above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], above2[j - 2] + 1);
            }
        }
    }
    return rows[a.size() % 3][b.size()];
}

} // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string> &candidates) {
    if (word.empty() || word.size() > longest) return {};
    const size_t limit = std::clamp<size_t>(word.size() / 3, 1, 4);
    std::string nearest;
    size_t fewest = limit + 1;
    for (const std::string &candidate : candidates) {
        if (candidate.size() > longest) continue;
        const size_t distance = edits(word, candidate);
        if (distance < fewest) {
            fewest = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string> &candidates) {
    const std::string nearest = nearest_word(word, candidates);
    return nearest.empty() ? "" : " (did you mean \"" + nearest + "\"?)";
}

} // namespace hbf
