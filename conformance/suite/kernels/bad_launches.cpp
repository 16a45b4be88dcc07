// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/kernels/bad_launches.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace hbf::conformance {
namespace {

using Buffer = hbf_kernel_buffer;
using Raw = hbf_launch;

void add_buffers(std::vector<BadLaunch> &out, uint64_t region_size, hbf_region stale) {
    out.push_back({"the region 0", [](Buffer &buffer, Raw &) { buffer.region = 0; }});
    out.push_back({"a freed region", [stale](Buffer &buffer, Raw &) { buffer.region = stale; }});
    out.push_back({"an empty buffer", [](Buffer &buffer, Raw &) { buffer.size = 0; }});
    out.push_back({"a buffer of no access", [](Buffer &buffer, Raw &) { buffer.access = 0; }});
    out.push_back({"an unknown access", [](Buffer &buffer, Raw &) { buffer.access = 4; }});
    out.push_back({"an unknown access beside a known one", [](Buffer &buffer, Raw &) { buffer.access |= 1u << 31; }});
    for (const uint64_t offset : {1, 4, 7, 12, 4095})
        out.push_back({fmt::format("a buffer at {}", offset), [=](Buffer &buffer, Raw &) { buffer.offset = offset; }});
    // Sums that wrap are the ones that slip through a comparison of offset + size.
    const std::pair<uint64_t, uint64_t> outside[] = {{0, region_size + 1},   {8, region_size},
                                                     {region_size, 8},       {region_size - 8, 16},
                                                     {uint64_t{1} << 32, 8}, {0, (uint64_t{1} << 32) + 8},
                                                     {UINT64_MAX - 7, 8},    {UINT64_MAX - 7, 4096},
                                                     {8, UINT64_MAX},        {0, UINT64_MAX}};
    for (const auto &range : outside)
        out.push_back({fmt::format("{} bytes at {:#x} of a region of {}", range.second, range.first, region_size),
                       [range](Buffer &buffer, Raw &) { buffer.offset = range.first, buffer.size = range.second; }});
}

void add_groups(std::vector<BadLaunch> &out, uint32_t most) {
    for (int d = 0; d < 3; ++d) {
        out.push_back({fmt::format("no groups in dimension {}", d), [d](Buffer &, Raw &raw) { raw.groups[d] = 0; }});
        out.push_back({fmt::format("no work-items in dimension {}", d), [d](Buffer &, Raw &raw) { raw.group_size[d] = 0; }});
    }
    // Too many along each way, and products that pass 2^32 and 2^64.
    constexpr uint32_t all = UINT32_MAX;
    const std::array<uint32_t, 3> too_large[] = {{most + 1, 1, 1},  {1, most + 1, 1},        {1, 1, most + 1}, {most, 2, 1},
                                                 {65536, 65536, 1}, {1u << 31, 1u << 31, 4}, {all, all, all}};
    for (const auto &items : too_large) {
        const auto [x, y, z] = items;
        if (x == 0 || y == 0 || z == 0 || (uint64_t{x} * y <= most && uint64_t{x} * y * z <= most)) continue;
        out.push_back({fmt::format("groups of {} x {} x {} work-items, of {}", x, y, z, most),
                       [items](Buffer &, Raw &raw) { std::copy(items.begin(), items.end(), raw.group_size); }});
    }
}

} // namespace

std::vector<BadLaunch> bad_launches(const hbf_kernel_info &kernel, uint64_t region_size, hbf_region stale) {
    std::vector<BadLaunch> out = {
        {"the kernel 0", [](Buffer &, Raw &raw) { raw.kernel = 0; }},
        {"a kernel that is none", [](Buffer &, Raw &raw) { raw.kernel ^= uint64_t{0x5a5a5a5a} << 32; }},
        {"one buffer too few", [](Buffer &, Raw &raw) { --raw.buffer_count; }},
        {"one buffer too many", [](Buffer &, Raw &raw) { ++raw.buffer_count; }},
        {"no buffers", [](Buffer &, Raw &raw) { raw.buffer_count = 0; }},
        {"2^32 buffers more", [](Buffer &, Raw &raw) { raw.buffer_count += uint64_t{1} << 32; }},
        {"buffers at NULL", [](Buffer &, Raw &raw) { raw.buffers = nullptr; }},
        {"a byte of arguments too few", [](Buffer &, Raw &raw) { --raw.arguments_size; }},
        {"a byte of arguments too many", [](Buffer &, Raw &raw) { ++raw.arguments_size; }},
        {"no arguments", [](Buffer &, Raw &raw) { raw.arguments_size = 0; }},
        {"2^32 bytes of arguments more", [](Buffer &, Raw &raw) { raw.arguments_size += uint64_t{1} << 32; }},
        {"arguments at NULL", [](Buffer &, Raw &raw) { raw.arguments = nullptr; }}};
    add_buffers(out, region_size, stale);
    add_groups(out, kernel.max_group_size);
    return out;
}

} // namespace hbf::conformance
