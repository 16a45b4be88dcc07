// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/pattern.hpp"

#include <algorithm>

namespace hbf::kv::prefetch {

std::string_view to_string(Pattern pattern) noexcept {
    constexpr std::string_view names[] = {"unknown", "sequential", "strided", "jumping"};
    return names[static_cast<size_t>(pattern)];
}

void Recognizer::access(uint64_t position) noexcept {
    if (seen_ > 0) steps_[(seen_ - 1) % steps_kept] = static_cast<int64_t>(position - last_);
    last_ = position;
    ++seen_;
}

Pattern Recognizer::pattern() const noexcept {
    if (seen_ <= steps_kept) return Pattern::unknown;
    const bool alike = std::all_of(steps_.begin(), steps_.end(), [&](int64_t step) { return step == steps_[0]; });
    if (!alike || steps_[0] == 0) return Pattern::jumping;
    return steps_[0] == 1 ? Pattern::sequential : Pattern::strided;
}

size_t Recognizer::next(std::span<uint64_t> out) const noexcept {
    const Pattern now = pattern();
    if (now != Pattern::sequential && now != Pattern::strided) return 0;
    const int64_t step = steps_[0];
    uint64_t position = last_;
    for (size_t i = 0; i < out.size(); ++i) {
        if (step < 0 && position < static_cast<uint64_t>(-step)) return i;
        out[i] = position += static_cast<uint64_t>(step);
    }
    return out.size();
}

} // namespace hbf::kv::prefetch
