// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/smart.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace hbf::kv::prefetch {
namespace {

// Who names candidates.
enum Source : uint8_t { last_successor, other_successor, pair_successor, same_step, loop };

float logarithm(double value) {
    return static_cast<float>(std::log2(1 + value)) / 16;
}

} // namespace

void SmartPrefetch::end(Reader &reader) noexcept {
    const size_t n = reader.count_;
    for (size_t ago = std::min(n, horizon); ago-- > 0;) learn(reader, n - ago, ago);
    reader.count_ = 0;
}

void SmartPrefetch::access(Reader &reader, BlockId block) noexcept {
    if (block >= successors_.blocks()) return;
    const size_t n = reader.count_;
    successors_.use(block);
    if (n > 0) {
        const BlockId from = reader.seen_[(n - 1) % window];
        successors_.follow(n > 1 ? reader.seen_[(n - 2) % window] : no_block, from, block);
    }
    reader.seen_[n % window] = block;
    reader.count_ = n + 1;
    if (reader.count_ > horizon) learn(reader, reader.count_ - horizon, horizon);
    propose(reader, block);
}

// What was thought when there were `thought` accesses is known now: `known` accesses came after it.
void SmartPrefetch::learn(Reader &reader, size_t thought, size_t known) noexcept {
    const size_t n = reader.count_;
    auto &past = reader.past_[thought % horizon];
    for (uint8_t i = 0; i < past.count; ++i) {
        const auto &candidate = past.candidates[i];
        bool came = false;
        for (size_t k = 0; k < known; ++k) came |= reader.seen_[(n - 1 - k) % window] == candidate.block;
        model_.learn(candidate.input, came);
        for (size_t source = 0; source < reader.right_.size(); ++source) {
            if (candidate.sources >> source & 1)
                reader.right_[source] += 0.1F * ((came ? 1.0F : 0.0F) - reader.right_[source]);
        }
    }
    past.count = 0;
}

void SmartPrefetch::propose(Reader &reader, BlockId block) noexcept {
    auto &past = reader.past_[reader.count_ % horizon];
    past.count = 0;
    const auto name = [&](BlockId candidate, Source source, size_t ahead) -> bool {
        if (candidate >= successors_.blocks() || candidate == block) return false;
        if (successors_.row(candidate).uses == 0) return false; // nobody stored it: there is nothing to fetch
        for (uint8_t i = 0; i < past.count; ++i) {
            if (past.candidates[i].block != candidate) continue;
            past.candidates[i].sources |= static_cast<uint8_t>(1 << source);
            past.candidates[i].input[static_cast<size_t>(source) + 1] = 1;
            return true;
        }
        if (past.count == most_guesses) return false;
        auto &made = past.candidates[past.count++];
        made = {};
        made.block = candidate;
        made.sources = static_cast<uint8_t>(1 << source);
        made.input[static_cast<size_t>(source) + 1] = 1;
        made.input[13] = static_cast<float>(ahead) / horizon;
        return true;
    };

    const size_t n = reader.count_;
    const BlockId before = n > 1 ? reader.seen_[(n - 2) % window] : no_block;
    BlockId at = block;
    for (size_t k = 1; k <= horizon; ++k) { // a chain
        at = successors_.last(at);
        if (!name(at, last_successor, k)) break;
    }
    name(successors_.row(block).other, other_successor, 1);
    if (before != no_block) {
        name(successors_.after(before, block), pair_successor, 1);
        const int64_t stepped = int64_t{block} + (int64_t{block} - int64_t{before});
        if (stepped >= 0 && stepped != block) name(static_cast<BlockId>(stepped), same_step, 1);
    }
    for (size_t back = 1; back < std::min(n, window) - 1; ++back) { // the same block in the window: what followed it there
        if (reader.seen_[(n - 1 - back) % window] != block) continue;
        name(reader.seen_[(n - back) % window], loop, 1);
        break;
    }

    const auto &row = successors_.row(block);
    for (uint8_t i = 0; i < past.count; ++i) {
        auto &candidate = past.candidates[i];
        auto &input = candidate.input;
        const auto total = static_cast<float>(std::max(row.total, 1u));
        const uint32_t came = candidate.block == row.last    ? row.last_count
                              : candidate.block == row.other ? row.other_count
                                                             : 0;
        float right = 0;
        for (size_t source = 0; source < reader.right_.size(); ++source) {
            if (candidate.sources >> source & 1) right = std::max(right, reader.right_[source]);
        }
        input[0] = 1;
        input[6] = static_cast<float>(came) / total;
        input[7] = logarithm(row.children);
        input[8] = logarithm(row.streak);
        input[9] = row.total > 0 ? logarithm(successors_.clock() - row.when) : 1;
        input[10] = right;
        input[11] = logarithm(successors_.row(candidate.block).uses);
        input[12] = row.children <= 1 ? 1.0F : 0.0F; // nothing else ever followed
    }
}

size_t SmartPrefetch::next(const Reader &reader, std::span<Guess> out) const noexcept {
    std::array<Guess, most_guesses> all;
    const auto &past = reader.past_[reader.count_ % horizon];
    for (uint8_t i = 0; i < past.count; ++i) all[i] = {past.candidates[i].block, model_(past.candidates[i].input)};
    const size_t kept = std::min<size_t>(out.size(), past.count);
    std::partial_sort(all.begin(), all.begin() + kept, all.begin() + past.count,
                      [](const Guess &a, const Guess &b) { return a.probability > b.probability; });
    std::copy_n(all.begin(), kept, out.begin());
    return kept;
}

std::string SmartPrefetch::save() const {
    std::string out = fmt::format("hbf smart-prefetch {} {}\n", version, features);
    for (const float weight : model_.weights()) out += fmt::format("{}\n", weight);
    return out;
}

tl::expected<void, std::string> SmartPrefetch::load(const std::string &text) {
    std::istringstream in(text);
    std::string tool, kind;
    uint32_t written = 0;
    size_t count = 0;
    if (!(in >> tool >> kind >> written >> count) || tool != "hbf" || kind != "smart-prefetch")
        return tl::unexpected(std::string("not what a predictor saved"));
    if (written != version || count != features)
        return tl::unexpected(fmt::format("saved by version {} with {} features, this is version {} with {}: it learns anew",
                                          written, count, version, features));
    Model::Input weights{};
    for (float &weight : weights) {
        if (!(in >> weight) || !std::isfinite(weight))
            return tl::unexpected(std::string("a weight is missing, or is no number"));
    }
    model_.set_weights(weights);
    return {};
}

} // namespace hbf::kv::prefetch
