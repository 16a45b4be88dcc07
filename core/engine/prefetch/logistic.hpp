// SPDX-License-Identifier: Apache-2.0
// Logistic regression that learns as it goes: stochastic gradients, each weight with its own rate (AdaGrad: Duchi, Hazan,
// Singer, JMLR 12, 2011).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace hbf::kv::prefetch {

template <size_t Features>
class Logistic {
public:
    using Input = std::array<float, Features>;

    float operator()(const Input &input) const noexcept {
        float sum = 0;
        for (size_t i = 0; i < Features; ++i) sum += weights_[i] * input[i];
        return 1 / (1 + std::exp(-sum));
    }

    void learn(const Input &input, bool happened) noexcept {
        const float error = (*this)(input) - (happened ? 1.0F : 0.0F);
        for (size_t i = 0; i < Features; ++i) {
            const float gradient = error * input[i];
            squares_[i] += gradient * gradient;
            weights_[i] -= rate * gradient / (std::sqrt(squares_[i]) + 1e-6F);
        }
    }

    const Input &weights() const noexcept { return weights_; }
    void set_weights(const Input &weights) noexcept { weights_ = weights; }

private:
    static constexpr float rate = 0.3F;
    Input weights_{}, squares_{};
};

} // namespace hbf::kv::prefetch
