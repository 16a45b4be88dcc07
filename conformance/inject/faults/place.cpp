// SPDX-License-Identifier: Apache-2.0
// The right bytes in the wrong place, or the wrong bytes in the right one.
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

uint64_t *destination_offset(hbf_command &command) {
    return command.kind == HBF_COMMAND_COPY ? &command.u.copy.dst_offset : &command.u.fill.dst_offset;
}

class Moved : public CommandFault {
public:
    using CommandFault::CommandFault;

    // `offset` moved by `bytes`, up if there is room, else down, else not.
    static void move(uint64_t &offset, uint64_t size, uint64_t bytes, uint64_t region_size) {
        if (offset + size <= region_size && bytes <= region_size - offset - size)
            offset += bytes;
        else if (offset >= bytes)
            offset -= bytes;
    }
    uint64_t size_of(hbf_region region) const {
        const auto info = device().regions().find(region);
        return info ? info->size : 0;
    }
};

class Misdirect final : public Moved {
public:
    using Moved::Moved;

    bool eligible(const hbf_command &command) override { return is_data(command) && in_tier(command); }
    void change(hbf_command &command) override {
        const Span to = destination(command);
        move(*destination_offset(command), to.size, settings().number("bytes"), size_of(to.region));
    }
};
HBF_FAULT(Misdirect, "misdirect", "a copy or fill arrives at another offset of its region", parameter::tier,
          {.key = "bytes", .preset = "64", .line = "how far off"});

class OffsetOffByOne final : public Moved {
public:
    using Moved::Moved;

    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_COPY && in_tier(command) &&
               command.u.copy.src_offset % std::max<uint64_t>(settings().number("unless"), 1) != 0;
    }
    void change(hbf_command &command) override {
        hbf_copy &copy = command.u.copy;
        move(copy.src_offset, copy.size, settings().number("bytes"), size_of(copy.src));
    }
};
HBF_FAULT(OffsetOffByOne, "offset-off-by-one", "a copy from an unaligned offset reads beside it", parameter::tier,
          {.key = "bytes", .preset = "1", .line = "how far off"},
          {.key = "unless", .preset = "16", .line = "offsets that are multiples of this are kept"});

class Swapped final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        if (command.kind != HBF_COMMAND_COPY || !in_tier(command)) return false;
        const auto from = device().regions().find(command.u.copy.src), to = device().regions().find(command.u.copy.dst);
        return from && to && from->tier == to->tier;
    }
    void change(hbf_command &command) override {
        hbf_copy &copy = command.u.copy;
        std::swap(copy.src, copy.dst);
        std::swap(copy.src_offset, copy.dst_offset);
    }
};
HBF_FAULT(Swapped, "src-dst-swapped", "a copy inside one tier goes the wrong way round", parameter::tier);

constexpr Parameter bits{.key = "bits", .preset = "32", .line = "bits that are kept"};

uint64_t kept(uint64_t value, uint64_t count) {
    return count < 64 ? value & ((uint64_t{1} << count) - 1) : value;
}

class TruncatedLength final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        return is_data(command) && in_tier(command) &&
               kept(destination(command).size, settings().number("bits")) != destination(command).size;
    }
    void change(hbf_command &command) override {
        uint64_t &size = command.kind == HBF_COMMAND_COPY ? command.u.copy.size : command.u.fill.size;
        size = kept(size, settings().number("bits"));
        if (size == 0) make_nothing(command);
    }
};
HBF_FAULT(TruncatedLength, "truncate-32bit", "a length of 4 GiB and more loses its high bits", parameter::tier, bits);

class TruncatedOffset final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        const uint64_t *const offset = offset_of(command);
        return offset && in_tier(command) && kept(*offset, settings().number("bits")) != *offset;
    }
    void change(hbf_command &command) override {
        uint64_t &offset = *const_cast<uint64_t *>(offset_of(command));
        offset = kept(offset, settings().number("bits"));
    }

private:
    // The one that is asked for; nullptr where the command has none.
    const uint64_t *offset_of(const hbf_command &command) const {
        const std::string &of = settings().text("of");
        if (command.kind == HBF_COMMAND_FILL) return of == "any" || of == "fill" ? &command.u.fill.dst_offset : nullptr;
        if (command.kind != HBF_COMMAND_COPY || of == "fill") return nullptr;
        return of == "source" ? &command.u.copy.src_offset : &command.u.copy.dst_offset;
    }
};
HBF_FAULT(TruncatedOffset, "offset-truncated-32bit", "an offset of 4 GiB and more loses its high bits", parameter::tier,
          bits,
          {.key = "of",
           .kind = Parameter::word,
           .preset = "any",
           .line = "which: of any destination, a copy's, a fill's, or a copy's source",
           .choices = {"any", "copy", "fill", "source"}});

} // namespace
} // namespace hbf::inject
