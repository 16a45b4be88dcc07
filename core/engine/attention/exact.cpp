// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

// Tokens that are attended together stand in for query heads: all that share a KV head, token after token.
struct ExactAttention::Pass {
    const kv_shape &shape; // of one token
    std::span<AttendPlace *const> places;
    std::span<const Block> whole, part; // seen in full by all tokens, and by some of them only
    uint64_t part_begin;                // token with which `part` begins
    uint64_t before;                    // tokens before the first of these
    uint32_t tokens;
    const float *query;
    float *output;

    uint32_t rows() const { return tokens * shape.query_heads; }
    size_t numbers() const { return size_t{shape.query_heads} * shape.head_dim; } // of a token
    uint32_t shared() const { return shape.query_heads / shape.kv_heads; }
    size_t row(uint32_t token, uint32_t head) const {
        return (size_t{head / shared()} * tokens + token) * shared() + head % shared();
    }
    kv_shape shape_of_rows() const {
        kv_shape all = shape;
        all.query_heads = rows();
        return all;
    }
};

namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

} // namespace

Result<> ExactAttention::attend(const kv_shape &shape, std::span<AttendPlace *const> places, std::span<const Block> blocks,
                                const float *query, uint32_t tokens, float *output) {
    return guarded([&] { return attend_passes(shape, places, blocks, query, tokens, output); });
}

void ExactAttention::prefetch(const kv_shape &shape, std::span<AttendPlace *const> places,
                              std::span<const Block> blocks) noexcept {
    (void)guarded([&]() -> Result<> {
        if (count_tokens(places, shape, blocks)) runner_.prefetch(places, shape, blocks);
        return {};
    });
}

Result<> ExactAttention::attend_passes(const kv_shape &shape, std::span<AttendPlace *const> places,
                                       std::span<const Block> blocks, const float *query, uint32_t tokens, float *output) {
    report_ = {};
    const auto all = count_tokens(places, shape, blocks);
    if (!all) return tl::unexpected(all.error());
    if (tokens > *all)
        return fail(Code::invalid, fmt::format("attention of {} tokens, but the blocks hold {} only", tokens, *all));
    const uint32_t at_once = std::max(HBF_KV_MAX_HEADS / shape.query_heads, 1u);
    const size_t numbers = size_t{shape.query_heads} * shape.head_dim;
    for (uint32_t token = 0; token < tokens; token += at_once, ++report_.passes) {
        Pass pass{shape,
                  places,
                  {},
                  {},
                  0,
                  *all - tokens + token,
                  std::min(at_once, tokens - token),
                  query + token * numbers,
                  output + token * numbers};
        size_t whole = 0;
        while (whole < blocks.size() && pass.part_begin + blocks[whole].at.tokens <= pass.before + 1)
            pass.part_begin += blocks[whole++].at.tokens;
        size_t end = whole;
        for (uint64_t at = pass.part_begin; end < blocks.size() && at < pass.before + pass.tokens; ++end)
            at += blocks[end].at.tokens;
        pass.whole = blocks.first(whole), pass.part = blocks.subspan(whole, end - whole);
        if (auto done = run_pass(pass); !done) return done;
    }
    return {};
}

Result<> ExactAttention::run_pass(const Pass &pass) {
    gather(pass);
    fold_.begin(pass.rows(), pass.shape.head_dim, pass.whole.size() + pass.part.size());
    if (auto done =
            runner_.run(pass.places, pass.shape_of_rows(), pass.tokens == 1 ? pass.query : query_.data(), pass.whole, fold_);
        !done)
        return done;
    uint64_t first = pass.part_begin;
    for (const Block &block : pass.part) {
        if (auto done = attend_in_part(pass, block, first); !done) return done;
        first += block.at.tokens;
    }
    report_.blocks += pass.whole.size() + pass.part.size();
    scatter(pass);
    return {};
}

Result<> ExactAttention::attend_in_part(const Pass &pass, const Block &block, uint64_t first) {
    const size_t numbers = pass.numbers(), dim = pass.shape.head_dim;
    one_state_.resize(size_t{pass.shape.query_heads} * 2), one_output_.resize(numbers);
    for (uint32_t token = 0; token < pass.tokens; ++token) {
        const uint64_t seen = pass.before + token + 1; // tokens
        const kv_block part{block.at.offset,
                            static_cast<uint32_t>(std::min<uint64_t>(seen > first ? seen - first : 0, block.at.tokens)), 0};
        if (part.tokens != 0) {
            AttendPlace &place = *pass.places[block.place];
            if (auto begun = place.begin(pass.shape, pass.query + token * numbers, {&part, 1}); !begun) return begun;
            if (auto done = place.next(1, one_state_.data(), one_output_.data()); !done) {
                place.abandon();
                return done;
            }
        }
        for (uint32_t head = 0; head < pass.shape.query_heads; ++head) {
            const size_t row = pass.row(token, head);
            fold_.state()[2 * row] = part.tokens ? one_state_[2 * head] : nothing;
            fold_.state()[2 * row + 1] = part.tokens ? one_state_[2 * head + 1] : 0;
            if (part.tokens)
                std::copy_n(one_output_.data() + head * dim, dim, fold_.output() + row * dim);
            else
                std::fill_n(fold_.output() + row * dim, dim, 0.0f);
        }
    }
    fold_.add(1);
    return {};
}

void ExactAttention::gather(const Pass &pass) {
    const size_t dim = pass.shape.head_dim;
    if (state_.size() < size_t{pass.rows()} * 2) state_.resize(size_t{pass.rows()} * 2);
    if (pass.tokens == 1) return;
    if (query_.size() < pass.rows() * dim) query_.resize(pass.rows() * dim), output_.resize(pass.rows() * dim);
    for (uint32_t token = 0; token < pass.tokens; ++token)
        for (uint32_t head = 0; head < pass.shape.query_heads; ++head)
            std::copy_n(pass.query + token * pass.numbers() + head * dim, dim, query_.data() + pass.row(token, head) * dim);
}

void ExactAttention::scatter(const Pass &pass) {
    const size_t dim = pass.shape.head_dim;
    float *const merged = pass.tokens == 1 ? pass.output : output_.data();
    fold_.finish(state_.data(), merged);
    kernels::attention_finish(state_.data(), merged, pass.rows(), pass.shape.head_dim);
    for (uint32_t token = 0; token < pass.tokens; ++token)
        for (uint32_t head = 0; head < pass.shape.query_heads; ++head) {
            float *const to = pass.output + token * pass.numbers() + head * dim;
            if (pass.tokens > 1) std::copy_n(output_.data() + pass.row(token, head) * dim, dim, to);
            report_.not_finite += !std::all_of(to, to + dim, [](float number) { return std::isfinite(number); });
        }
}

} // namespace hbf::kv
