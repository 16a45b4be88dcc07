// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/data.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/measure/cause.hpp"

namespace hbf::measure {
namespace {

constexpr uint64_t cpu_piece = 1 << 20; // bytes written at a time: the caches do not matter, the loop does

} // namespace

std::string to_string(const Mismatch &m) {
    return fmt::format(
        "wrong data at offset {:#x}: expected {:#010x}, found {:#010x} (xor {:#010x}); {} of {} words wrong; {}", m.offset,
        m.expected, m.actual, m.expected ^ m.actual, m.wrong_words, m.checked_words, m.guess);
}

std::string guess_cause(const kernels::PatternKey &key, uint64_t buffer_size, uint64_t offset, uint32_t expected,
                        uint32_t actual) {
    return to_string(find_cause(key, buffer_size, offset, expected, actual));
}

Result<> DataPath::move(const Buffer &dst, uint64_t dst_offset, const Buffer &src, uint64_t src_offset, uint64_t size) {
    const Move move{dst.region, dst_offset, src.region, src_offset, size};
    auto value = target_.submit({&move, 1});
    if (!value) return tl::unexpected(value.error());
    return target_.wait(*value);
}

Result<> DataPath::write(const Buffer &buffer, const kernels::PatternKey &key, uint64_t size) {
    if (buffer.address != nullptr) {
        for (uint64_t at = 0; at < size; at += cpu_piece) {
            kernels::pattern_fill(buffer.address + at, std::min(cpu_piece, size - at), key, at);
        }
        return target_.written_by_cpu(buffer, 0, size);
    }
    for (uint64_t at = 0; at < size; at += staging_.size) {
        const auto bytes = std::min(staging_.size, size - at);
        kernels::pattern_fill(staging_.address, bytes, key, at);
        if (auto told = target_.written_by_cpu(staging_, 0, bytes); !told) return told;
        if (auto moved = move(buffer, at, staging_, 0, bytes); !moved) return moved;
    }
    return {};
}

Result<std::optional<Mismatch>> DataPath::check(const Buffer &buffer, const kernels::PatternKey &key, uint64_t offset,
                                                uint64_t size, std::optional<uint64_t> content) {
    const uint64_t shift = content.value_or(offset) - offset; // modulo 2^64: content may lie before
    Mismatch found;
    found.checked_words = size / 4;
    auto look = [&](const std::byte *bytes, uint64_t count, uint64_t at) {
        const auto result = kernels::pattern_verify(bytes, count, key, at + shift);
        if (result.wrong_words == 0) return;
        if (found.wrong_words == 0) {
            found.offset = at + result.first_offset;
            found.expected = result.expected;
            found.actual = result.actual;
        }
        found.wrong_words += result.wrong_words;
    };
    if (buffer.address != nullptr) {
        look(buffer.address + offset, size, offset);
    } else {
        for (uint64_t at = offset; at < offset + size; at += staging_.size) {
            const auto bytes = std::min(staging_.size, offset + size - at);
            if (auto moved = move(staging_, 0, buffer, at, bytes); !moved) return tl::unexpected(moved.error());
            look(staging_.address, bytes, at);
        }
    }
    if (found.wrong_words == 0) return std::optional<Mismatch>{};
    found.guess = guess_cause(key, buffer.size, found.offset + shift, found.expected, found.actual);
    return std::optional<Mismatch>{found};
}

} // namespace hbf::measure
