// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class FillOddLength final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_FILL && in_tier(command) && unit() != 0 && command.u.fill.size % unit() != 0;
    }
    void change(hbf_command &command) override {
        command.u.fill.size -= command.u.fill.size % unit();
        if (command.u.fill.size == 0) make_nothing(command);
    }

private:
    uint64_t unit() const { return settings().number("bytes"); }
};
HBF_FAULT(FillOddLength, "fill-odd-length-wrong", "a fill of an odd length leaves its tail unwritten", parameter::tier,
          {.key = "bytes", .preset = "8", .line = "only multiples of these are filled"});

class FillWidth final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        const uint32_t width = command.u.fill.pattern_size;
        return command.kind == HBF_COMMAND_FILL && width != 1 && width != 2 && width != 4 && width != 8;
    }
    void change(hbf_command &command) override { command.u.fill.pattern_size = 8; }
};
HBF_FAULT(FillWidth, "fill-width-approximated", "a fill with a pattern width that there is not is done with another");

} // namespace
} // namespace hbf::inject
