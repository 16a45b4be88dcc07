// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class DropTail final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        return is_data(command) && destination(command).size > 0 && in_tier(command);
    }
    void change(hbf_command &command) override {
        uint64_t &size = command.kind == HBF_COMMAND_COPY ? command.u.copy.size : command.u.fill.size;
        const uint64_t bytes = settings().number("bytes");
        if (size <= bytes)
            make_nothing(command);
        else
            size -= bytes;
    }
};
HBF_FAULT(DropTail, "drop-tail", "the last bytes of a copy or fill are not written", parameter::tier,
          {.key = "bytes", .preset = "1", .line = "how many"});

} // namespace
} // namespace hbf::inject
