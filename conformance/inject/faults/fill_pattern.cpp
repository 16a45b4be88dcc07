// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class FillHighBytes final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_FILL && command.u.fill.pattern_size > 0 && command.u.fill.pattern_size < 8 &&
               in_tier(command);
    }
    void change(hbf_command &command) override {
        hbf_fill &fill = command.u.fill;
        fill.pattern >>= 64 - 8 * fill.pattern_size;
    }
};
HBF_FAULT(FillHighBytes, "fill-takes-high-bytes", "a fill takes the high bytes of its pattern, not the low ones",
          parameter::tier);

} // namespace
} // namespace hbf::inject
