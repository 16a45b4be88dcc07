// SPDX-License-Identifier: Apache-2.0
// How a reader goes through a sequence: one block after the other, in equal steps, or here and there. Of the first two, the
// next positions follow; of the third, the semantically nearest blocks are asked for instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hbf::kv::prefetch {

enum class Pattern : uint8_t { unknown, sequential, strided, jumping };
std::string_view to_string(Pattern pattern) noexcept;

// [one thread] Nothing allocates.
class Recognizer {
public:
    void access(uint64_t position) noexcept; // of a block in its sequence
    Pattern pattern() const noexcept;
    // The next positions, nearest first; the number of them. None where none follow, or they would be below 0.
    size_t next(std::span<uint64_t> out) const noexcept;

private:
    static constexpr size_t steps_kept = 3; // as many alike make a pattern
    std::array<int64_t, steps_kept> steps_{};
    uint64_t seen_ = 0, last_ = 0;
};

} // namespace hbf::kv::prefetch
