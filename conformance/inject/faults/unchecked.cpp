// SPDX-License-Identifier: Apache-2.0
// Commands that must be refused and are taken, or must be taken and are refused.
#include "conformance/inject/rewrite_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

class ZeroCommandOk final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        const std::string &kind = settings().text("kind");
        if (command.kind == HBF_COMMAND_COPY) return command.u.copy.size == 0 && (kind == "any" || kind == "copy");
        if (command.kind == HBF_COMMAND_FILL) return command.u.fill.size == 0 && (kind == "any" || kind == "fill");
        const bool range = command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE;
        return range && command.u.range.size == 0 && (kind == "any" || kind == "range");
    }
    void change(hbf_command &command) override { make_nothing(command); }
};
HBF_FAULT(ZeroCommandOk, "zero-command-ok", "a command of 0 bytes is taken, and does nothing",
          {.key = "kind",
           .kind = Parameter::word,
           .preset = "any",
           .line = "of command; range is flush and invalidate",
           .choices = {"any", "copy", "fill", "range"}});

// Base for ranges against the regions that they lie in.
class RangeFault : public CommandFault {
public:
    using CommandFault::CommandFault;

protected:
    enum class Where { inside, beyond, wraps, to_the_end };
    Where place(hbf_region handle, uint64_t offset, uint64_t size) const {
        const auto region = device().regions().find(handle);
        if (!region) return Where::inside; // something else is wrong
        if (offset + size < offset) return Where::wraps;
        if (offset + size > region->size) return Where::beyond;
        return offset + size == region->size ? Where::to_the_end : Where::inside;
    }
    bool any(const hbf_command &command, Where where) const {
        if (command.kind == HBF_COMMAND_COPY)
            return place(command.u.copy.dst, command.u.copy.dst_offset, command.u.copy.size) == where ||
                   place(command.u.copy.src, command.u.copy.src_offset, command.u.copy.size) == where;
        if (command.kind == HBF_COMMAND_FILL)
            return place(command.u.fill.dst, command.u.fill.dst_offset, command.u.fill.size) == where;
        if (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE)
            return place(command.u.range.region, command.u.range.offset, command.u.range.size) == where;
        return false;
    }
};

class RangeUnchecked final : public RangeFault {
public:
    using RangeFault::RangeFault;

    bool eligible(const hbf_command &command) override {
        return any(command, settings().text("what") == "wraps" ? Where::wraps : Where::beyond);
    }
    void change(hbf_command &command) override { make_nothing(command); }
};
HBF_FAULT(RangeUnchecked, "range-unchecked", "a command whose range leaves its region is taken, and does nothing",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "beyond",
           .line = "its end lies beyond, or wraps past 2^64",
           .choices = {"beyond", "wraps"}});

// Refuses what a correct plugin takes.
class Refuses : public RangeFault {
public:
    using RangeFault::RangeFault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i) {
            if (!eligible(command_at(*batch, i)) || !fires()) continue;
            if (out_value) *out_value = 0;
            return refuse(e, HBF_INVALID, why());
        }
        return below_->submit(queue, batch, out_value, e);
    }
    void change(hbf_command &) override {}

protected:
    virtual const char *why() const = 0;
};

class LastByteRefused final : public Refuses {
public:
    using Refuses::Refuses;
    bool eligible(const hbf_command &command) override { return is_data(command) && any(command, Where::to_the_end); }
    const char *why() const override { return "the range leaves its region"; }
};
HBF_FAULT(LastByteRefused, "last-byte-refused", "a copy or fill that ends with its region is refused as leaving it");

class AdjoiningRefused final : public Refuses {
public:
    using Refuses::Refuses;
    bool eligible(const hbf_command &command) override {
        const hbf_copy &copy = command.u.copy;
        return command.kind == HBF_COMMAND_COPY && copy.dst == copy.src &&
               (copy.dst_offset + copy.size == copy.src_offset || copy.src_offset + copy.size == copy.dst_offset);
    }
    const char *why() const override { return "source and destination overlap"; }
};
HBF_FAULT(AdjoiningRefused, "adjoining-refused", "a copy between ranges that touch is refused as overlapping");

class UnknownOk final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        const bool known = command.kind >= HBF_COMMAND_COPY && command.kind <= HBF_COMMAND_WAIT;
        if (settings().text("what") == "kind") return !known;
        return known && (command.flags & ~known_flags(command)) != 0;
    }
    void change(hbf_command &command) override {
        if (settings().text("what") == "kind")
            make_nothing(command);
        else
            command.flags &= known_flags(command);
    }

private:
    static uint32_t known_flags(const hbf_command &command) {
        return command.kind == HBF_COMMAND_COPY ? HBF_COPY_CRC32C : 0;
    }
};
HBF_FAULT(UnknownOk, "unknown-command-ok", "a command of an unknown kind is skipped, or an unknown flag is",
          {.key = "what", .kind = Parameter::word, .preset = "kind", .line = "is unknown", .choices = {"kind", "flag"}});

} // namespace
} // namespace hbf::inject
