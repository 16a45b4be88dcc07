// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

// An event is a description of a tier.
class LatencyUnderstated final : public Fault {
public:
    using Fault::Fault;

    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && usable(out, HBF_TIER_INFO_MIN_SIZE) && in_tier(tier) && fires())
            out->nominal_latency_ns = settings().number("ns");
        return status;
    }
};
HBF_FAULT(LatencyUnderstated, "latency-understated", "a tier declares less latency than it has", parameter::tier,
          {.key = "ns", .preset = "100", .line = "nanoseconds that it declares"});

} // namespace
} // namespace hbf::inject
