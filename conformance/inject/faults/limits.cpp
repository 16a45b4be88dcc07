// SPDX-License-Identifier: Apache-2.0
// What a plugin must refuse and takes: a queue over its limits, an existing region without a name.
#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

class QueueOverLimitOk final : public Fault {
public:
    using Fault::Fault;

    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        if (!usable(desc, HBF_QUEUE_DESC_MIN_SIZE) || desc->commands <= device().max_commands() || !fires())
            return below_->create_queue(desc, queue, e);
        hbf_queue_desc within = *desc;
        within.commands = device().max_commands();
        return below_->create_queue(&within, queue, e);
    }
};
HBF_FAULT(QueueOverLimitOk, "queue-over-limit-ok",
          "a queue for more commands in a batch than the limit is made, with the limit");

class UnnamedOpenOk final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (!usable(desc, HBF_ALLOC_DESC_MIN_SIZE) || desc->name.size != 0 || !(desc->flags & HBF_ALLOC_OPEN_EXISTING) ||
            !fires())
            return below_->alloc(desc, out, e);
        hbf_alloc_desc made = *desc;
        made.flags &= ~HBF_ALLOC_OPEN_EXISTING;
        return below_->alloc(&made, out, e);
    }
};
HBF_FAULT(UnnamedOpenOk, "unnamed-open-ok", "opening an existing region without a name makes a new one");

} // namespace
} // namespace hbf::inject
