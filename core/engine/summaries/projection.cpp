// SPDX-License-Identifier: Apache-2.0
#include "core/engine/summaries/projection.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

#include <faiss/VectorTransform.h>
#include <fmt/format.h>

#include "core/engine/summaries/one_thread.hpp"

namespace hbf::kv::summaries {
namespace {

constexpr size_t enough_to_tell = 64; // rows
constexpr double foreign = 0.75;      // of the corpus' retained variance

Error wrong(std::string what) {
    return {Code::invalid, std::move(what)};
}

} // namespace

struct Projection::Matrix {
    Matrix(int input, int output) : pca(input, output) {}
    faiss::PCAMatrix pca;
};

bool has_faiss() noexcept {
    return true;
}

Projection::Projection(std::unique_ptr<Matrix> matrix, uint32_t input, uint32_t output, double retained)
    : matrix_(std::move(matrix)), input_(input), output_(output), retained_(retained) {}
Projection::Projection(Projection &&) noexcept = default;
Projection &Projection::operator=(Projection &&) noexcept = default;
Projection::~Projection() = default;

Result<Projection> Projection::fit(std::span<const float> rows, uint32_t input, uint32_t output) {
    if (input < least_input)
        return tl::unexpected(
            wrong(fmt::format("{} dimensions: principal components want at least {}", input, least_input)));
    if (output < least_output || output > input)
        return tl::unexpected(wrong(fmt::format("compression to {} dimensions (hbf.compression_pca_dim): from {} to {} are "
                                                "possible",
                                                output, least_output, input)));
    if (rows.size() % input != 0 || rows.size() / input < input)
        return tl::unexpected(
            wrong(fmt::format("{} numbers: {} dimensions take at least {} whole rows", rows.size(), input, input)));
    if (const auto odd = std::find_if_not(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); });
        odd != rows.end())
        return tl::unexpected(
            wrong(fmt::format("row {} has a number that is {}", static_cast<size_t>(odd - rows.begin()) / input, *odd)));
    try {
        const OneThread one;
        auto matrix = std::make_unique<Matrix>(static_cast<int>(input), static_cast<int>(output));
        matrix->pca.train(static_cast<int64_t>(rows.size() / input), rows.data());
        const auto &values = matrix->pca.eigenvalues;
        const double all = std::accumulate(values.begin(), values.end(), 0.0);
        const double kept = std::accumulate(values.begin(), values.begin() + output, 0.0);
        if (!(all > 0)) return tl::unexpected(wrong("all rows are alike: there is nothing to tell them apart by"));
        return Projection(std::move(matrix), input, output, std::min(1.0, kept / all));
    } catch (const std::exception &error) {
        return tl::unexpected(Error{Code::internal, fmt::format("FAISS: {}", error.what())});
    }
}

void Projection::apply(std::span<const float> rows, std::span<float> out) const {
    const OneThread one;
    const size_t count = std::min(rows.size() / input_, out.size() / output_);
    matrix_->pca.apply_noalloc(static_cast<int64_t>(count), rows.data(), out.data());
}

void Projection::pool(std::span<const float> projected, std::span<float> out) const noexcept {
    std::fill(out.begin(), out.end(), 0.0F);
    const size_t width = std::min<size_t>(output_, out.size());
    for (size_t at = 0; at + output_ <= projected.size(); at += output_)
        for (size_t i = 0; i < width; ++i) out[i] += projected[at + i];
    double square = 0;
    for (size_t i = 0; i < width; ++i) square += static_cast<double>(out[i]) * out[i];
    if (square > 0)
        for (size_t i = 0; i < width; ++i) out[i] = static_cast<float>(out[i] / std::sqrt(square));
}

double Projection::retained_of(std::span<const float> rows) const {
    const size_t count = rows.size() / input_;
    std::vector<float> short_rows(count * output_);
    apply(rows.first(count * input_), short_rows);
    // Projected rows are centred on the corpus' mean already.
    double all = 0, kept = 0;
    for (size_t row = 0; row < count; ++row) {
        for (uint32_t i = 0; i < input_; ++i) {
            const double from_mean = static_cast<double>(rows[row * input_ + i]) - matrix_->pca.mean[i];
            all += from_mean * from_mean;
        }
    }
    for (const float x : short_rows) kept += static_cast<double>(x) * x;
    return all > 0 ? std::min(1.0, kept / all) : 1;
}

bool Projection::is_foreign(std::span<const float> rows) const {
    return rows.size() / input_ >= enough_to_tell && retained_of(rows) < foreign * retained_;
}

} // namespace hbf::kv::summaries
