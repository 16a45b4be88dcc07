// SPDX-License-Identifier: Apache-2.0
// Test data in buffers: generation-tagged address-hash words, written and checked wherever the buffer is. Memory without a
// CPU address is reached through a staging buffer and the queue under test, outside the timed part.
#pragma once

#include <optional>
#include <string>

#include "conformance/measure/target.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::measure {

// A destination that is not what it must be.
struct Mismatch {
    uint64_t offset = 0; // bytes, of the first wrong word
    uint32_t expected = 0, actual = 0;
    uint64_t wrong_words = 0, checked_words = 0; // 4 bytes each
    std::string guess; // "never written", "stale: generation 3", "misplaced: belongs at offset ...", "1 bit flipped (bit 7)"
};
std::string to_string(const Mismatch &mismatch);

class DataPath {
public:
    // `staging` has a CPU address; unused where buffers have one.
    DataPath(Target &target, const Buffer &staging) : target_(target), staging_(staging) {}

    Result<> write(const Buffer &buffer, const kernels::PatternKey &key, uint64_t size);
    // Nothing if all of [offset, offset + size) is right: the pattern's bytes from `content` on, without it from `offset`.
    Result<std::optional<Mismatch>> check(const Buffer &buffer, const kernels::PatternKey &key, uint64_t offset,
                                          uint64_t size, std::optional<uint64_t> content = {});

private:
    Result<> move(const Buffer &dst, uint64_t dst_offset, const Buffer &src, uint64_t src_offset, uint64_t size);

    Target &target_;
    Buffer staging_;
};

// What a wrong word looks like, from nothing but its value and place. [pure]
std::string guess_cause(const kernels::PatternKey &key, uint64_t buffer_size, uint64_t offset, uint32_t expected,
                        uint32_t actual);

} // namespace hbf::measure
