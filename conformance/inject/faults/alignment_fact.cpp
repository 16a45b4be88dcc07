// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

class OddAlignmentDeclared final : public Fault {
public:
    using Fault::Fault;

    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && usable(out, HBF_TIER_INFO_MIN_SIZE) && in_tier(tier) && fires()) out->alignment = 0;
        return status;
    }
};
HBF_FAULT(OddAlignmentDeclared, "odd-alignment-declared", "a tier declares the alignment 0, no power of two",
          parameter::tier);

} // namespace
} // namespace hbf::inject
