// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/bound.hpp"

#include <cmath>

#include <fmt/format.h>

namespace hbf::integrity {
namespace {

// P(X <= errors) for X Poisson with this mean, term by term from the largest down, so that no power overflows.
double at_most(uint64_t errors, double mean) {
    const auto k = static_cast<double>(errors);
    double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)), sum = 0;
    for (double i = k; i >= 0 && term > sum * 1e-17; --i) {
        sum += term;
        term *= i / mean;
    }
    return sum;
}

std::string counted(uint64_t errors, double bits) {
    return fmt::format("{} error{} in {:.2g} bits", errors, errors == 1 ? "" : "s", bits);
}

} // namespace

double poisson_upper(uint64_t errors, double confidence) {
    if (errors == 0) return -std::log1p(-confidence);
    const double left = 1 - confidence, k = static_cast<double>(errors);
    double low = k, high = k + 10 * std::sqrt(k) + 50;
    while (at_most(errors, high) > left) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
        const double middle = (low + high) / 2;
        (at_most(errors, middle) > left ? low : high) = middle;
    }
    return (low + high) / 2;
}

double bits_needed(double confidence, double rate) {
    return poisson_upper(0, confidence) / rate;
}

std::string percent_text(double confidence) {
    return fmt::format("{:g} %", confidence * 100);
}

std::string bound_text(uint64_t errors, double bits, double confidence) {
    if (bits <= 0) return "no bit compared: no bound";
    return fmt::format("{}: rate < {:.2g} at {}", counted(errors, bits), poisson_upper(errors, confidence) / bits,
                       percent_text(confidence));
}

std::string bound_text(uint64_t errors, double bits) {
    if (bits <= 0) return "no bit compared: no bound";
    return fmt::format("{}: rate < {:.2g} per bit at 95 %, < {:.2g} at 99.9 %", counted(errors, bits),
                       poisson_upper(errors, 0.95) / bits, poisson_upper(errors, 0.999) / bits);
}

} // namespace hbf::integrity
