// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/async/expect.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "conformance/measure/clock.hpp"

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

void submit_when_free(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &batch, uint64_t &value) {
    for (bool idle = false;;) {
        uint64_t next = 0;
        const Call call = device.submit(queue, batch, next);
        if (call.status != HBF_EXHAUSTED) {
            must(call, "submit");
            value = next;
            return;
        }
        if (idle) must(call, "submit to a queue with nothing in flight");
        // All may have completed since the refusal: then there is no oldest in flight to wait for.
        const uint64_t completed = device.poll(queue).completed;
        idle = completed >= value;
        if (!idle) device.must_complete(queue, completed + 1);
    }
}

void look_until(const std::function<bool()> &over, uint64_t value) {
    const auto begin = measure::Clock::now();
    for (uint64_t looks = 1; !over(); ++looks) {
        if (looks % 1024) continue;
        if (measure::seconds_between(begin, measure::Clock::now()) > 10)
            fail_as(fault::never_completes, fmt::format("value {} did not complete in 10 seconds of polling", value));
        std::this_thread::yield(); // on one CPU somebody else has yet to submit
    }
}

} // namespace hbf::conformance
