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
        const hbf_status status = below_->create_queue(desc, queue, e);
        if (status != HBF_INVALID || !usable(desc, HBF_QUEUE_DESC_MIN_SIZE)) return status;
        hbf_queue_desc within = *desc;
        if (settings().text("what") == "depth")
            within.depth = 0;
        else if (desc->commands > device().max_commands())
            within.commands = device().max_commands();
        return fires() ? below_->create_queue(&within, queue, e) : status;
    }
};
HBF_FAULT(QueueOverLimitOk, "queue-over-limit-ok", "a queue over a limit is made, within it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "commands",
           .line = "more commands in a batch than the limit, or deeper",
           .choices = {"commands", "depth"}});

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
