// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/fill.hpp"

#include <algorithm>

namespace hbf::stream {
namespace {

constexpr uint64_t mask(uint32_t width) {
    return width == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width)) - 1;
}

// The pattern as it goes on after `bytes` of it.
uint64_t rotated(uint64_t pattern, uint32_t width, uint64_t bytes) {
    const uint64_t bits = 8 * (bytes % width), all = 8ull * width;
    pattern &= mask(width);
    return bits == 0 ? pattern : (pattern >> bits | pattern << (all - bits)) & mask(width);
}

} // namespace

int fill(StreamApi &api, const Command &command) noexcept {
    const Region *const region = command.dst.region;
    uint64_t pattern = command.pattern & mask(command.pattern_size);
    uint32_t width = command.pattern_size;
    // 0101 is 01 twice: narrower elements need no alignment, and no runtime lacks them.
    while (width > 1 && (pattern & mask(width / 2)) == pattern >> (4 * width)) pattern &= mask(width /= 2);
    const uint64_t at = command.dst.address();
    uint64_t done = 0;
    const auto bytes_until = [&](uint64_t end) {
        int code = 0;
        for (; done < end && code == 0; ++done)
            code = api.fill({at + done, 1, rotated(pattern, width, done) & 0xff, 1, region});
        return code;
    };
    if (const int code = bytes_until(std::min((width - at % width) % width, command.size)); code != 0) return code;
    const uint64_t whole = (command.size - done) / width;
    if (whole != 0) {
        if (const int code = api.fill({at + done, whole, rotated(pattern, width, done), width, region}); code != 0)
            return code;
        done += whole * width;
    }
    return bytes_until(command.size);
}

} // namespace hbf::stream
