// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/memory_place.hpp"

#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

Result<> MemoryPlace::begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    blocks_ = {};
    if (auto checked = check_blocks(shape, blocks, size_); !checked) return checked;
    shape_ = shape, query_ = query, blocks_ = blocks;
    return {};
}

Result<> MemoryPlace::next(uint32_t count, float *state, float *output) {
    if (count > blocks_.size()) return fail(Code::invalid, "more blocks were asked for than were named");
    kernels::attention({base_, blocks_.data(), query_, state, output}, {size_, shape_, count, 0});
    blocks_ = blocks_.subspan(count);
    return {};
}

} // namespace hbf::kv
