// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/async/expect.hpp"

#include <algorithm>
#include <vector>

namespace hbf::conformance {

void fail_as(std::string_view fault_class, std::string detail, std::string tier) {
    Evidence evidence;
    evidence.fault_class = fault_class;
    evidence.tier = std::move(tier);
    evidence.detail = detail;
    fail(std::move(detail), std::move(evidence));
}

std::string_view class_of(const measure::Cause &cause, std::string_view if_poison) {
    using Kind = measure::Cause::Kind;
    switch (cause.kind) {
    case Kind::poison:
        return if_poison;
    case Kind::stale:
        return fault::stale;
    case Kind::misplaced:
        return fault::misplaced;
    case Kind::flipped:
        return fault::bit_flip;
    default:
        return fault::wrong_value;
    }
}

Evidence examine(const std::byte *bytes, uint64_t size, const kernels::PatternKey &key, uint64_t content,
                 std::string_view if_poison) {
    Evidence out;
    const auto result = kernels::pattern_verify(bytes, size, key, content);
    if (result.wrong_words == 0) return out;
    out.offset = result.first_offset;
    out.expected = result.expected;
    out.actual = result.actual;
    out.width = 4;
    out.wrong_bytes = result.wrong_words * 4;
    const uint64_t at = content + result.first_offset;
    const auto cause = measure::find_cause(key, content + size, at, result.expected, result.actual);
    out.detail = measure::to_string(cause);
    out.fault_class = class_of(cause, if_poison);
    return out;
}

void expect_pattern(Context &context, const Instance &device, const hbf_region_info &region, uint64_t offset,
                    const std::byte *bytes, uint64_t size, const kernels::PatternKey &key, uint64_t content,
                    std::string_view if_poison, std::string_view what) {
    context.count_check();
    Evidence evidence = examine(bytes, size, key, content, if_poison);
    if (evidence.fault_class.empty()) return;
    evidence.tier = region.tier == HBF_TIER_NONE ? "registered memory" : device.tier(region.tier).name;
    evidence.region = region.region;
    evidence.offset += offset;
    if (region.address) evidence.address = reinterpret_cast<uintptr_t>(region.address) + evidence.offset;
    const std::string reason =
        fmt::format("{}: byte {:#x} of {} bytes in {} is wrong, {} of them in all; {}", what, evidence.offset - offset, size,
                    evidence.tier, evidence.wrong_bytes, evidence.detail);
    fail(reason, std::move(evidence));
}

void write_pattern(ByteAccess &access, const hbf_region_info &region, uint64_t offset, uint64_t size,
                   const kernels::PatternKey &key, uint64_t content) {
    if (region.address) {
        kernels::pattern_fill(static_cast<std::byte *>(region.address) + offset, size, key, content);
        access.publish(region, offset, size);
        return;
    }
    std::vector<std::byte> bytes(size);
    kernels::pattern_fill(bytes.data(), size, key, content);
    access.write(region, offset, bytes);
}

} // namespace hbf::conformance
