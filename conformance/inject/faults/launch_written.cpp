// SPDX-License-Identifier: Apache-2.0
// What a launch leaves in memory that it should not.
#include <algorithm>

#include "conformance/inject/launch_fault.hpp"

namespace hbf::inject {
namespace {

class LaunchResult final : public LaunchDataFault {
public:
    using LaunchDataFault::LaunchDataFault;

    const hbf_kernel_buffer *target(const hbf_launch &launch) const override {
        if (!is("read-only")) return LaunchDataFault::target(launch);
        for (uint64_t i = 0; i < launch.buffer_count; ++i)
            if (launch.buffers[i].access == HBF_KERNEL_READS) return &launch.buffers[i];
        return nullptr;
    }
    void look_before(Hit &hit) override {
        const Place place = place_of(hit.buffer);
        if (const auto bytes = device().touch().read(hit.buffer.region, place.offset, place.size)) hit.before = *bytes;
    }
    void change(const Hit &hit) override {
        const Place place = place_of(hit.buffer);
        auto bytes = device().touch().read(hit.buffer.region, place.offset, place.size);
        if (!bytes || bytes->empty() || hit.before.size() != bytes->size()) return;
        const uint64_t bit = settings().number("bit");
        if (is("tail") || is("head"))
            bytes = hit.before;
        else if (is("bit") && bit / 8 < bytes->size())
            (*bytes)[bit / 8] ^= std::byte(1u << bit % 8);
        else if (!is("bit"))
            for (std::byte &byte : *bytes) byte = ~byte;
        device().touch().write(hit.buffer.region, place.offset, *bytes);
    }

private:
    bool is(std::string_view what) const { return settings().text("what") == what; }
    struct Place {
        uint64_t offset, size;
    };
    Place place_of(const hbf_kernel_buffer &buffer) const {
        const uint64_t bytes = settings().number("bytes"), end = buffer.offset + buffer.size;
        const auto region = device().regions().find(buffer.region);
        const uint64_t size = region ? region->size : 0;
        if (is("before")) return {buffer.offset - std::min(bytes, buffer.offset), std::min(bytes, buffer.offset)};
        if (is("beyond")) return {end, end < size ? std::min(bytes, size - end) : 0};
        if (is("tail")) return {end - std::min(bytes, buffer.size), std::min(bytes, buffer.size)};
        return {buffer.offset, is("bit") ? std::min<uint64_t>(buffer.size, 8) : std::min(bytes, buffer.size)};
    }
};
HBF_FAULT(LaunchResult, "launch-result-wrong", "what a launch leaves in memory is not what its kernel makes",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "tail",
           .line = "the end or start of the last buffer that it writes keeps what it held; a bit there is flipped; bytes "
                   "behind or before that buffer are changed; the start of the first buffer that it only reads is",
           .choices = {"tail", "head", "bit", "beyond", "before", "read-only"}},
          {.key = "bytes", .preset = "8", .line = "how many"},
          {.key = "bit", .preset = "0", .line = "which, from its start"});

} // namespace
} // namespace hbf::inject
