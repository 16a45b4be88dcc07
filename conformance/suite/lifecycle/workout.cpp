// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/lifecycle/workout.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {

void workout(const Instance &device, uint64_t seed, std::string_view who) {
    constexpr uint64_t bytes = 65536;

    Random random(seed);
    std::vector<std::byte> data(bytes);
    for (std::byte &byte : data) byte = static_cast<std::byte>(random());
    ByteAccess access(device);
    Regions regions(device);
    const Queue queue(device);
    const auto tiers = device.dma_tiers();
    const hbf_region_info source = regions.make(tiers.at(0), bytes);
    access.write(source, 0, data);
    for (const uint32_t tier : tiers) {
        const hbf_region_info target = regions.make(tier, bytes);
        device.must_run(queue, {fill_command(target.region, 0, bytes, 0x5a, 1)});
        device.must_run(queue, {copy_command(target.region, 0, source.region, 0, bytes)});
        const auto found = access.read(target, 0, bytes);
        const auto wrong = std::mismatch(found.begin(), found.end(), data.begin());
        if (wrong.first == found.end()) continue;
        Evidence evidence;
        evidence.fault_class = fault::wrong_value;
        evidence.tier = device.tier(tier).name;
        evidence.region = target.region;
        evidence.offset = static_cast<uint64_t>(wrong.first - found.begin());
        evidence.detail =
            fmt::format("{}: a copy to tier {}: byte {} is {:#04x} and not {:#04x}", who, evidence.tier, evidence.offset,
                        static_cast<unsigned>(*wrong.first), static_cast<unsigned>(*wrong.second));
        const std::string reason = evidence.detail;
        fail(reason, std::move(evidence));
    }
}

} // namespace hbf::conformance
