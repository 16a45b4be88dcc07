// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/builder.hpp"

#include <fmt/format.h>

namespace hbf::replay {
namespace {
constexpr size_t most_blocks = size_t{1} << 30;
}

std::string Builder::begin_request(double seconds) {
    if (starts_.empty()) first_ = last_ = seconds;
    if (seconds < last_) ++back_;
    last_ = seconds;
    starts_.push_back(accesses_.size());
    return "";
}

std::string Builder::add(uint64_t block, uint32_t tokens) {
    const auto [at, is_new] = ids_.try_emplace(block, static_cast<BlockId>(ids_.size()));
    if (is_new && ids_.size() > most_blocks) return fmt::format("more than {} different blocks", most_blocks);
    accesses_.push_back({at->second, tokens});
    return "";
}

Trace Builder::finish(Trace trace) {
    if (!starts_.empty()) starts_.push_back(accesses_.size());
    trace.accesses = std::move(accesses_);
    trace.starts = std::move(starts_);
    trace.blocks = ids_.size();
    trace.seconds = last_ - first_;
    if (back_ > 0)
        trace.notes.push_back(
            fmt::format("{}: {} requests are earlier than the one before; taken in the file's order", trace.name, back_));
    return trace;
}

} // namespace hbf::replay
