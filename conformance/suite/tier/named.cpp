// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/tier/named.hpp"

#include <algorithm>
#include <chrono>

#include <unistd.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/dma/finding.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::conformance {

hbf_region_info open_or_create(const Instance &device, uint32_t tier, const std::string &name, uint64_t size) {
    hbf_region_info out{};
    Call call = device.alloc(tier, size, out, 0, name, HBF_ALLOC_OPEN_EXISTING);
    if (call.status == HBF_UNAVAILABLE) call = device.alloc(tier, size, out, 0, name);
    must(call, "the region named {} in {}, which declares that names persist", name, device.tier(tier).name);
    return out;
}

NamedRegion write_named(Context &context, const Instance &device, const hbf_region_info &region, const std::string &name,
                        uint32_t generation) {
    NamedRegion out{name, region.size / 4 * 4, {}};
    out.bytes.resize(out.size);
    kernels::pattern_fill(out.bytes.data(), out.size, {static_cast<uint32_t>(context.seed()), generation}, 0);
    ByteAccess(device).write(region, 0, out.bytes);
    return out;
}

NamedRegion store_named(Context &context, const Instance &device, uint32_t tier, const std::string &name, uint64_t size,
                        uint32_t generation) {
    const hbf_region_info region = open_or_create(device, tier, name, size);
    NamedRegion out = write_named(context, device, region, name, generation);
    device.must_free(region.region);
    return out;
}

void must_find(Context &context, const Instance &device, uint32_t tier, const NamedRegion &stored, std::string_view when) {
    hbf_region_info region{};
    const Call call = device.alloc(tier, stored.size, region, 0, stored.name, HBF_ALLOC_OPEN_EXISTING);
    must(call, "opening {}, which was stored in {}, {}", stored.name, device.tier(tier).name, when);
    const auto actual = ByteAccess(device).read(region, 0, stored.size);
    device.must_free(region.region);
    context.count_check();
    if (actual == stored.bytes) return;
    Evidence evidence = difference(fault::stale, device.tier(tier).name, region, 0, stored.bytes, actual);
    evidence.detail = fmt::format("{}, opened {}, holds other bytes than were stored, from offset {:#x} on", stored.name,
                                  when, evidence.offset);
    fail_with(std::move(evidence));
}

Instance &made_again(Context &context) {
    context.subject().destroy_instance();
    Instance &device = context.device();
    if (!(device.capabilities() & need::persistent))
        context.inconclusive("the instance made again has no tier that keeps named regions: does another process use it?");
    return device;
}

std::string fresh_name(const char *what) {
    const auto now = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    return fmt::format("hbf-conformance.{}.{:x}", what, Random(now ^ (static_cast<uint64_t>(::getpid()) << 40))());
}

} // namespace hbf::conformance
