// SPDX-License-Identifier: Apache-2.0
// The memory of a corruption test on one device: two regions in each tier, and a window through which bytes of tiers without
// a CPU address are filled and looked at. Made once, used by every pair.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/integrity/device_pattern.hpp"
#include "conformance/integrity/pattern.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/device.hpp"

namespace hbf::integrity {

class Arena {
public:
    static constexpr uint64_t window_size = 4u << 20;
    static constexpr uint32_t depth = 4; // copies under way at once

    struct Place {
        uint32_t tier = 0;
        hbf_region_info source{}, destination{};
        uint64_t bytes = 0; // of each
    };

    // What a region's bytes are, as far as the test wrote them: shared by all pairs that end there.
    struct Content {
        std::optional<Datum> now, poison;
    };

    // Needs a tier with a CPU address. `tiers`: where to test, all reached by commands. `bytes`: of each region, a multiple
    // of 4096; at most one part in `share` of what is free in the tier, and `skipped` says which tiers have no room. Trouble
    // of the plugin's is a conformance::Verdict.
    Arena(const conformance::Instance &device, const std::vector<uint32_t> &tiers, uint64_t bytes, uint64_t share = 8);

    // Once, before the first route: who compares what arrives; until then it is the host. The device's kernels are tried out
    // in every tier they are to be used in, and not used where they do not find what they must: notes() says so. `fill`:
    // they also write the data of tiers without a CPU address.
    void verify_by(VerifyBy by, bool fill, uint32_t seed);
    DevicePattern *verifier(uint32_t tier) const; // nullptr: the host
    DevicePattern *filler(uint32_t tier) const;   // nullptr: the host, by copies
    const std::vector<std::string> &notes() const { return notes_; }

    const conformance::Instance &device() const { return *device_; }
    const std::vector<Place> &places() const { return places_; }
    const std::vector<std::string> &skipped() const { return skipped_; }
    hbf_queue *queue() const { return *queue_; }
    conformance::ByteAccess &access() { return access_; }
    Content &content(hbf_region region) { return contents_[region]; }
    const hbf_region_info &window(); // in the first tier with a CPU address, window_size bytes
    bool crc() const { return device_->capabilities() & conformance::need::crc; }

private:
    const conformance::Instance *device_;
    conformance::Regions regions_;
    conformance::ByteAccess access_;
    std::unique_ptr<conformance::Queue> queue_;
    std::vector<Place> places_;
    std::vector<std::string> skipped_;
    hbf_region_info window_{};
    std::map<hbf_region, Content> contents_;
    std::unique_ptr<DevicePattern> pattern_;
    std::set<uint32_t> verified_, filled_; // tiers
    std::vector<std::string> notes_;
};

// Drops the CPU's copies of these lines, so that the next load comes from memory. Nothing where the CPU cannot be asked to.
void evict(const void *address, uint64_t size);

} // namespace hbf::integrity
