// SPDX-License-Identifier: Apache-2.0
// Checks that say which class of fault they found, and data that tells what went wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/measure/cause.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::conformance {

[[noreturn]] void fail_as(std::string_view fault_class, std::string detail, std::string tier = {});

// Counts; a false one ends the case as a failure of that class.
template <class... A>
void expect(Context &context, bool good, std::string_view fault_class, fmt::format_string<A...> text, A &&...args) {
    context.count_check();
    if (!good) fail_as(fault_class, fmt::format(text, std::forward<A>(args)...));
}

// The class of fault that leaves such a word; `if_poison` where nothing was written.
std::string_view class_of(const measure::Cause &cause, std::string_view if_poison);

// What is wrong in bytes that should hold the pattern of `key`; an empty class if nothing is. `content` is the pattern's
// offset of the first byte; size and content are multiples of 4. `if_poison` names the fault when the bytes are still the
// complement pattern of the same generation, which every case writes there beforehand.
Evidence examine(const std::byte *bytes, uint64_t size, const kernels::PatternKey &key, uint64_t content,
                 std::string_view if_poison);

// Fails the case if bytes of `region`, already in `bytes`, are not the pattern.
void expect_pattern(Context &context, const Instance &device, const hbf_region_info &region, uint64_t offset,
                    const std::byte *bytes, uint64_t size, const kernels::PatternKey &key, uint64_t content,
                    std::string_view if_poison, std::string_view what);

// Pattern, or its complement, into a region.
void write_pattern(ByteAccess &access, const hbf_region_info &region, uint64_t offset, uint64_t size,
                   const kernels::PatternKey &key, uint64_t content);

// Submits as soon as the queue has room. `value` in: the last one that submit returned, 0 none; out: the new one.
void submit_when_free(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &batch, uint64_t &value);

// Asks again and again until `over`: value `value` is completed, or nobody waits any more. Fails the case after ten seconds.
void look_until(const std::function<bool()> &over, uint64_t value);

inline kernels::PatternKey poison_of(kernels::PatternKey key) {
    key.complement = !key.complement;
    return key;
}

} // namespace hbf::conformance
