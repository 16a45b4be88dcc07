// SPDX-License-Identifier: Apache-2.0
// What a tier declares and is not.
#include <cstring>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

// An event is a description of a tier.
class TierFact : public Fault {
public:
    using Fault::Fault;

    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && usable(out, HBF_TIER_INFO_MIN_SIZE) && in_tier(tier) && fires()) lie(*out);
        return status;
    }

protected:
    virtual void lie(hbf_tier_info &info) = 0;
    // More than the tier has, and never past what a number can say.
    static uint64_t times(uint64_t value, uint64_t factor) {
        return value > UINT64_MAX / factor ? UINT64_MAX : value * factor;
    }
};

class CapacityOverstated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override {
        info.capacity = times(info.capacity, settings().number("factor"));
        info.available = times(info.available, settings().number("factor"));
    }
};
const Parameter by_factor{.key = "factor", .preset = "2", .line = "by how much"};
HBF_FAULT(CapacityOverstated, "capacity-overstated", "a tier declares more capacity, all of it available, than it has",
          parameter::tier, by_factor);

class CapacityUnderstated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override {
        const uint64_t factor = std::max<uint64_t>(settings().number("factor"), 1);
        info.capacity /= factor;
        info.available = std::min(info.available, info.capacity);
    }
};
HBF_FAULT(CapacityUnderstated, "capacity-understated", "a tier declares less capacity than it has", parameter::tier,
          by_factor);

class AvailableOverstated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override { info.available = info.capacity + std::max<uint64_t>(info.granule, 1); }
};
HBF_FAULT(AvailableOverstated, "available-over-capacity", "a tier declares more bytes available than its capacity",
          parameter::tier);

class AlignmentOverstated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override {
        info.alignment = times(std::max<uint64_t>(info.alignment, 1), uint64_t{1} << 40);
    }
};
HBF_FAULT(AlignmentOverstated, "alignment-overstated", "a tier declares a larger alignment than its regions have",
          parameter::tier);

class BandwidthOverstated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override {
        const uint64_t factor = settings().number("factor");
        info.nominal_bandwidth = info.nominal_bandwidth ? times(info.nominal_bandwidth, factor) : settings().number("bps");
    }
};
HBF_FAULT(BandwidthOverstated, "bandwidth-overstated", "a tier declares more bandwidth than it has", parameter::tier,
          {.key = "factor", .preset = "1000", .line = "by how much, where it declares any"},
          {.key = "bps", .preset = "10000000000000", .line = "bytes per second, where it declares none"});

class Unterminated final : public TierFact {
public:
    using TierFact::TierFact;
    void lie(hbf_tier_info &info) override { std::memset(info.detail, 'x', sizeof info.detail); }
};
HBF_FAULT(Unterminated, "unterminated-string", "the text about a tier has no NUL", parameter::tier);

} // namespace
} // namespace hbf::inject
