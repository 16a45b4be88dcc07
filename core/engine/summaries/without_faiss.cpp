// SPDX-License-Identifier: Apache-2.0
// In a build without FAISS: summaries are scanned exactly, and vectors stay as long as they are.
#include "core/engine/summaries/faiss_index.hpp"
#include "core/engine/summaries/projection.hpp"

namespace hbf::kv::summaries {

struct Projection::Matrix {};

bool has_faiss() noexcept {
    return false;
}

std::unique_ptr<SummaryIndex> make_faiss_index(uint32_t, IndexKind) {
    return nullptr;
}

Result<Projection> Projection::fit(std::span<const float>, uint32_t, uint32_t) {
    return tl::unexpected(Error{Code::unsupported, "principal components need FAISS, which this build has not"});
}
Projection::Projection(Projection &&) noexcept = default;
Projection &Projection::operator=(Projection &&) noexcept = default;
Projection::~Projection() = default;
// Nobody can have one.
void Projection::apply(std::span<const float>, std::span<float>) const {}
void Projection::pool(std::span<const float>, std::span<float>) const noexcept {}
double Projection::retained_of(std::span<const float>) const {
    return 0;
}
bool Projection::is_foreign(std::span<const float>) const {
    return false;
}

} // namespace hbf::kv::summaries
