// SPDX-License-Identifier: Apache-2.0
// Base of faults that change commands before the plugin sees them.
#pragma once

#include <vector>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {

class RewriteFault : public Fault {
public:
    using Fault::Fault;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;

protected:
    // False: nothing to change, the host's own batch goes on. Launches point to copies (launch.hpp).
    virtual bool rewrite(std::vector<hbf_command> &commands) = 0;
};

// For faults that change commands one by one.
class CommandFault : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

protected:
    bool rewrite(std::vector<hbf_command> &commands) final;
    virtual bool eligible(const hbf_command &command) = 0; // counts as an event
    virtual void change(hbf_command &command) = 0;
};

// In place of a command that is to be lost: orders a little more than was asked, does nothing else, and leaves the rest of
// the batch, and so the positions in messages, as they are.
inline void make_nothing(hbf_command &command) {
    command = {};
    command.kind = HBF_COMMAND_WAIT;
}

} // namespace hbf::inject
