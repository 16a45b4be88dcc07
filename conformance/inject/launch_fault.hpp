// SPDX-License-Identifier: Apache-2.0
// Bases of faults in launches: changed before the device sees them, or in what they have written.
#pragma once

#include <vector>

#include "conformance/inject/launch.hpp"
#include "conformance/inject/rewrite_fault.hpp"
#include "conformance/inject/touch.hpp"

namespace hbf::inject {

class LaunchFault : public CommandFault {
public:
    using CommandFault::CommandFault;

protected:
    bool eligible(const hbf_command &command) final {
        return command.kind == HBF_COMMAND_LAUNCH && readable(command.u.launch) && hits(command.u.launch);
    }
    void change(hbf_command &command) final {
        if (!change(command.u.launch)) make_nothing(command);
    }

    // An event: a launch that no plugin can refuse, unless a fault says otherwise.
    virtual bool hits(const hbf_launch &launch) { return harmless(device(), launch); }
    // It points to copies (buffers_of, arguments_of). False: nothing runs in its place.
    virtual bool change(hbf_launch &launch) = 0;
};

// A value with a launch that is hit is waited for inside its submit, as data_fault.hpp says of copies.
class LaunchDataFault : public Fault {
public:
    using Fault::Fault;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;

protected:
    struct Hit {
        hbf_kernel_buffer buffer{};
        std::vector<std::byte> before{};
    };
    // The buffer that is hit: the last that is written; nullptr: this launch has none to hit.
    virtual const hbf_kernel_buffer *target(const hbf_launch &launch) const;
    virtual void look_before(Hit &) {}       // nothing of the batch has begun
    virtual void change(const Hit &hit) = 0; // all of the batch has completed
};

} // namespace hbf::inject
