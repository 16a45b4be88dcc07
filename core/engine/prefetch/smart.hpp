// SPDX-License-Identifier: Apache-2.0
// SmartPrefetch: which blocks will a reader ask for next? From its last 20 accesses come a few candidates (what followed
// last, what followed the pair, the step repeated, where a loop would go on); a logistic regression, trained as readers go,
// says how likely each is among the next three. Where one block surely follows another nothing is left to learn; what it is
// for are branch points, and sessions that come back.
//
// One model for all readers, a Reader each. [one thread at a time] Nothing allocates after the constructors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/engine/prefetch/logistic.hpp"
#include "core/engine/prefetch/successors.hpp"

namespace hbf::kv::prefetch {

inline constexpr size_t window = 20; // accesses that are looked back on
inline constexpr size_t horizon = 3; // accesses that are looked ahead to
inline constexpr size_t most_guesses = 8;

struct Guess {
    BlockId block = no_block;
    float probability = 0; // of being among the next `horizon` accesses
};

class SmartPrefetch {
public:
    static constexpr size_t features = 14;
    static constexpr uint32_t version = 1; // of features and their meaning
    using Model = Logistic<features>;

    class Reader {
        friend class SmartPrefetch;
        struct Candidate {
            BlockId block = no_block;
            uint8_t sources = 0; // a bit each of those that named it
            Model::Input input{};
        };
        struct Past { // what was thought at an access, until it is known
            std::array<Candidate, most_guesses> candidates{};
            uint8_t count = 0;
        };
        std::array<BlockId, window> seen_{};
        size_t count_ = 0;
        std::array<Past, horizon> past_{};
        std::array<float, 5> right_{0.5F, 0.5F, 0.5F, 0.5F, 0.5F}; // of each source, of late
    };

    explicit SmartPrefetch(size_t blocks) : successors_(blocks, std::min<size_t>(1 << 16, 4 * blocks + 16)) {}

    // The reader reads `block`: learns from it, and thinks about what comes next.
    void access(Reader &reader, BlockId block) noexcept;
    // The request has ended: what did not come does not come, and what comes next does not follow from it.
    void end(Reader &reader) noexcept;
    // The likeliest blocks of the next accesses, likeliest first; the number of them.
    size_t next(const Reader &reader, std::span<Guess> out) const noexcept;

    const Successors &successors() const noexcept { return successors_; }
    void forget(BlockId block) noexcept { successors_.forget(block); } // its number means another block from now on

    // What was learnt, for the next process. load() refuses what another version wrote, and what is no such text.
    std::string save() const;
    tl::expected<void, std::string> load(const std::string &text);

private:
    void propose(Reader &reader, BlockId block) noexcept;
    void learn(Reader &reader, size_t thought, size_t known) noexcept;

    Successors successors_;
    Model model_;
};

} // namespace hbf::kv::prefetch
