// SPDX-License-Identifier: Apache-2.0
// What one step says of a candidate it refuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hbf/selection.hpp"

namespace hbf::loader {

struct Refusal {
    Reason reason;
    std::string detail; // the sentence: what exactly, and the remedy
};

std::optional<Reason> reason_from(std::string_view word) noexcept;

} // namespace hbf::loader
