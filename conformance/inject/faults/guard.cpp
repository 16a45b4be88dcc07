// SPDX-License-Identifier: Apache-2.0
// Writes out of the range that was named, within the region: what lies beyond it is memory the wrapper must not touch.
#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class GuardWrite final : public DataFault {
public:
    using DataFault::DataFault;

    bool eligible(const hbf_command &command) override {
        const std::string &kind = settings().text("kind");
        if (kind == "copy" && command.kind != HBF_COMMAND_COPY) return false;
        if (kind == "fill" && command.kind != HBF_COMMAND_FILL) return false;
        return DataFault::eligible(command) && guard_of(destination(command)).size > 0;
    }
    void change(const Hit &hit) override {
        edit(guard_of(hit.written), [&](uint64_t, std::span<std::byte> bytes) {
            for (std::byte &byte : bytes) byte = ~byte;
            return true;
        });
    }

private:
    Span guard_of(const Span &range) const {
        const uint64_t bytes = settings().number("bytes"), size = region_size(range.region), end = range.offset + range.size;
        if (settings().text("side") == "before") {
            const uint64_t room = std::min(bytes, range.offset);
            return {range.region, range.offset - room, room};
        }
        return {range.region, end, end < size ? std::min(bytes, size - end) : 0};
    }
};
HBF_FAULT(
    GuardWrite, "guard-write", "a copy or fill also changes bytes beside its range", parameter::tier,
    {.key = "bytes", .preset = "1", .line = "how many"},
    {.key = "side", .kind = Parameter::word, .preset = "after", .line = "of the range", .choices = {"after", "before"}},
    {.key = "kind", .kind = Parameter::word, .preset = "any", .line = "of command", .choices = {"any", "copy", "fill"}});

class TailRounded final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_COPY && in_tier(command) && rounded(command.u.copy) != command.u.copy.size;
    }
    void change(hbf_command &command) override { command.u.copy.size = rounded(command.u.copy); }

private:
    uint64_t room(hbf_region region, uint64_t offset) const {
        const auto info = device().regions().find(region);
        return info && offset < info->size ? info->size - offset : 0;
    }
    uint64_t rounded(const hbf_copy &copy) const {
        const uint64_t unit = std::max<uint64_t>(settings().number("bytes"), 1);
        const uint64_t up = (copy.size + unit - 1) / unit * unit;
        if (up > room(copy.dst, copy.dst_offset) || up > room(copy.src, copy.src_offset)) return copy.size;
        // A larger copy of one region may overlap where the one that was asked for does not.
        const uint64_t apart =
            copy.dst_offset > copy.src_offset ? copy.dst_offset - copy.src_offset : copy.src_offset - copy.dst_offset;
        return copy.dst == copy.src && apart < up ? copy.size : up;
    }
};
HBF_FAULT(TailRounded, "tail-rounded-to-64", "a copy's length is rounded up, and the tail is the neighbour's",
          parameter::tier, {.key = "bytes", .preset = "64", .line = "to a multiple of these"});

} // namespace
} // namespace hbf::inject
