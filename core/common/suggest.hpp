// SPDX-License-Identifier: Apache-2.0
// "did you mean": the nearest known word to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hbf {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours) from `word`, "" if none is near enough
// to be a likely slip: at most a third of the word's length, at least one edit, at most four.
std::string nearest_word(std::string_view word, const std::vector<std::string> &candidates);

// ` (did you mean "x"?)`, or "" if there is no near candidate.
std::string did_you_mean(std::string_view word, const std::vector<std::string> &candidates);

} // namespace hbf
