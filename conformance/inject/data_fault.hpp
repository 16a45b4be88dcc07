// SPDX-License-Identifier: Apache-2.0
// Base of faults that change what a copy or fill left in its destination, on a device whose engine they do not control.
//
// A value that is hit is waited for inside its submit, and the bytes are changed before submit returns: so nobody can see
// them unchanged, neither the host, which does not know the value yet, nor a later command of the device. A value that is
// not hit passes untouched.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/touch.hpp"

namespace hbf::inject {

class DataFault : public Fault {
public:
    using Fault::Fault;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;

protected:
    // A command that is hit, and whatever a fault wants to remember from before it ran.
    struct Hit {
        hbf_command command{};
        Span written;                    // by the command
        Span saved{};                    // where `before` was read
        std::vector<std::byte> before{}; // see look_before
    };
    virtual bool eligible(const hbf_command &command) { return is_data(command) && in_tier(command); }
    virtual bool picks(const hbf_command &command) { return eligible(command) && fires(); }
    virtual void look_before(Hit &) {}       // nothing of the batch has begun
    virtual void change(const Hit &hit) = 0; // all of the batch has completed

    // `edit` gets the bytes of a range piece by piece, each with its offset in the region, and says whether it changed them.
    void edit(const Span &where, const std::function<bool(uint64_t offset, std::span<std::byte> bytes)> &edit);
    void save(Hit &hit, const Span &where);
    uint64_t region_size(hbf_region region) const; // 0: not known
};

} // namespace hbf::inject
