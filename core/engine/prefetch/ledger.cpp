// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/ledger.hpp"

#include <algorithm>

namespace hbf::kv::prefetch {

size_t allowed(const Gate &gate, std::span<const Guess> guesses, double memory_used) noexcept {
    if (memory_used >= gate.memory_below || guesses.empty()) return 0;
    const size_t judged = std::min<size_t>(2, guesses.size());
    for (size_t i = 0; i < judged; ++i) {
        if (!(guesses[i].probability > gate.sure)) return 0;
    }
    size_t count = 0;
    while (count < guesses.size() && count < gate.depth && guesses[count].probability > gate.sure) ++count;
    return count;
}

void Ledger::arrived(BlockId block) {
    if (const auto entry = open_.find(block); entry != open_.end()) entry->second.here = true;
}

void Ledger::used(BlockId block) {
    const auto entry = open_.find(block);
    if (entry == open_.end()) return;
    (entry->second.here ? bytes_.useful : bytes_.late) += entry->second.bytes;
    open_.erase(entry);
}

void Ledger::dropped(BlockId block) {
    const auto entry = open_.find(block);
    if (entry == open_.end()) return;
    bytes_.wasted += entry->second.bytes;
    open_.erase(entry);
}

void Contest::count(int right_of_model, int wrong_of_model, int right_of_last, int wrong_of_last) noexcept {
    model_ = kept * model_ + right_of_model - wrong_of_model;
    last_ = kept * last_ + right_of_last - wrong_of_last;
    if (on_ ? lead() < -to_switch : lead() > to_switch) on_ = !on_;
}

} // namespace hbf::kv::prefetch
