// SPDX-License-Identifier: Apache-2.0
// Commands that are taken and not carried out, or only in part.
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

// One kind of command does nothing.
template <hbf_command_kind Kind>
class Noop final : public CommandFault {
public:
    using CommandFault::CommandFault;
    bool eligible(const hbf_command &command) override { return command.kind == Kind; }
    void change(hbf_command &command) override { make_nothing(command); }
};
using FlushNoop = Noop<HBF_COMMAND_FLUSH>;
using InvalidateNoop = Noop<HBF_COMMAND_INVALIDATE>;
HBF_FAULT(FlushNoop, "flush-noop", "a flush does nothing");
HBF_FAULT(InvalidateNoop, "invalidate-noop", "an invalidate does nothing");

class WaitFault : public RewriteFault {
public:
    WaitFault(const Settings &settings, bool barriers) : RewriteFault(settings), barriers_(barriers) {}

    bool rewrite(std::vector<hbf_command> &commands) override {
        return std::erase_if(commands, [&](const hbf_command &command) {
                   return command.kind == HBF_COMMAND_WAIT && (command.u.wait.queue == nullptr) == barriers_ && fires();
               }) > 0;
    }

private:
    const bool barriers_;
};
class WaitDropped final : public WaitFault {
public:
    explicit WaitDropped(const Settings &settings) : WaitFault(settings, false) {}
};
class BarrierDropped final : public WaitFault {
public:
    explicit BarrierDropped(const Settings &settings) : WaitFault(settings, true) {}
};
HBF_FAULT(WaitDropped, "wait-dropped", "a batch does not wait for the value of another queue");
HBF_FAULT(BarrierDropped, "barrier-dropped", "commands run across a barrier of their batch");

// What only commands reach is storage: a read from it that comes up short and says nothing.
class ShortRead final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        if (command.kind != HBF_COMMAND_COPY || command.u.copy.size <= settings().number("bytes")) return false;
        const auto from = device().regions().find(command.u.copy.src);
        if (!from || from->tier == HBF_TIER_NONE || from->tier >= device().tiers().size()) return false;
        return settings().given("tier") ? in_tier(from->tier) : !(device().tiers()[from->tier].access & HBF_ACCESS_CPU);
    }
    void change(hbf_command &command) override { command.u.copy.size -= settings().number("bytes"); }
};
HBF_FAULT(ShortRead, "short-read", "a read from storage comes to less than asked for, and says that it is whole",
          {.key = "tier",
           .kind = Parameter::name,
           .line = "from the tier of this name; not given: those only commands reach"},
          {.key = "bytes", .preset = "512", .line = "how much is missing"});

} // namespace
} // namespace hbf::inject
