// SPDX-License-Identifier: Apache-2.0
// Token vectors (hidden states, or the keys of all heads end to end) made shorter by principal components, fitted on the
// user's own corpus; and blocks of them pooled to one vector. Single tokens are lost in it: so it is one of several ways to
// find blocks, never the only one (attention/chooser.hpp has the others).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hbf/status.hpp"

namespace hbf::kv::summaries {

class Projection {
public:
    static constexpr uint32_t least_input = 512, least_output = 128; // dimensions; fewer are refused

    // Of `rows`, one after the other, `input` numbers each; at least `input` of them. INVALID with the value; UNSUPPORTED
    // in a build without FAISS.
    static Result<Projection> fit(std::span<const float> rows, uint32_t input, uint32_t output);
    Projection(Projection &&) noexcept;
    Projection &operator=(Projection &&) noexcept;
    ~Projection();

    uint32_t input() const noexcept { return input_; }
    uint32_t output() const noexcept { return output_; }
    double retained() const noexcept { return retained_; } // share of the corpus' variance, 0..1

    // Rows to projected rows. [any thread]
    void apply(std::span<const float> rows, std::span<float> out) const;
    // The mean of projected rows, of length 1: a block's summary. No row: all zero.
    void pool(std::span<const float> projected, std::span<float> out) const noexcept;

    // How much of these rows' variance around the corpus' mean is kept, and whether that is so much less than the corpus'
    // that it was fitted on something else. Few rows cannot tell: at least 64.
    double retained_of(std::span<const float> rows) const;
    bool is_foreign(std::span<const float> rows) const;

private:
    struct Matrix;
    Projection(std::unique_ptr<Matrix> matrix, uint32_t input, uint32_t output, double retained);

    std::unique_ptr<Matrix> matrix_;
    uint32_t input_, output_;
    double retained_;
};

bool has_faiss() noexcept; // this build

} // namespace hbf::kv::summaries
