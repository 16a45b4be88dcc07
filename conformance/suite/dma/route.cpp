// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/dma/route.hpp"

#include <algorithm>
#include <utility>

#include "conformance/suite/case.hpp"

namespace hbf::conformance {
namespace {

constexpr const char *registered = "registered memory";

std::string name_of(const Instance &device, uint32_t tier) {
    return tier == HBF_TIER_NONE ? registered : device.tier(tier).name;
}

Route route(const Instance &device, uint32_t from, uint32_t to) {
    return {from, to, name_of(device, from), name_of(device, to)};
}

} // namespace

std::vector<Route> routes_from_cpu(const Instance &device) {
    std::vector<Route> out;
    const std::vector<uint32_t> tiers = device.dma_tiers();
    for (const uint32_t from : tiers) {
        for (const uint32_t to : tiers)
            if (from != to && device.cpu_access(from)) out.push_back(route(device, from, to));
    }
    if (out.empty()) out.push_back(route(device, device.cpu_tier(), device.cpu_tier()));
    if (device.capabilities() & need::register_host)
        for (const uint32_t to : tiers) out.push_back(route(device, HBF_TIER_NONE, to));
    return out;
}

std::vector<Route> routes_to_cpu(const Instance &device) {
    std::vector<Route> out = routes_from_cpu(device);
    for (Route &turned : out) {
        std::swap(turned.from, turned.to);
        std::swap(turned.from_name, turned.to_name);
    }
    return out;
}

std::vector<Route> routes_both(const Instance &device) {
    std::vector<Route> out = routes_to_cpu(device);
    for (Route &other : routes_from_cpu(device)) {
        const auto same = [&](const Route &route) { return route.from == other.from && route.to == other.to; };
        if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(other));
    }
    return out;
}

std::vector<Route> routes_within(const Instance &device) {
    std::vector<Route> out;
    for (const uint32_t tier : device.dma_tiers()) out.push_back(route(device, tier, tier));
    return out;
}

} // namespace hbf::conformance
