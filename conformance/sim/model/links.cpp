// SPDX-License-Identifier: Apache-2.0
// Links and peers, as the profile has them and as faults leave them.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/sim/model/parts.hpp"
#include "core/output/size.hpp"

namespace hbf::model {
namespace {

int device_named(std::string_view agent) {
    constexpr std::string_view prefix = "device";
    if (!agent.starts_with(prefix)) return -1;
    const auto number = parse_number(agent.substr(prefix.size()));
    return number ? static_cast<int>(*number) : -1;
}

bool host_side(const ProfileLink &link) {
    return device_named(link.a) < 0 || device_named(link.b) < 0;
}

void spoil(LinkState &link, const Faults &faults) {
    const auto on = [&](Fault fault) { return faults.on(fault, link.a) || faults.on(fault, link.b); };
    const uint64_t width = faults.value(Fault::link_narrow, 4);
    if (host_side(*link.profile)) {
        if (!on(Fault::link_narrow) || link.width <= width) return;
        link.bandwidth = link.bandwidth * width / link.width;
        link.width = static_cast<uint32_t>(width);
        return;
    }
    if (on(Fault::link_down)) {
        // All of them where the fault is about one device, else one of many.
        const uint32_t down = faults.value(Fault::link_down, 0) ? 1 : link.lanes_up;
        link.bandwidth = link.lanes_up ? link.bandwidth * (link.lanes_up - down) / link.lanes_up : 0;
        link.lanes_up -= std::min(link.lanes_up, down);
    }
    if (on(Fault::peer_lies)) {
        link.peer_advertised = true;
        link.peer = PeerAccess::drops;
    }
    if (on(Fault::iommu_redirect) && link.peer == PeerAccess::works) link.peer = PeerAccess::drops;
    if (!link.up()) {
        link.peer = PeerAccess::none;
        link.peer_advertised = false;
    }
}

LinkState state_of(const ProfileLink &profile, const Faults &faults) {
    LinkState link;
    link.profile = &profile;
    link.a = device_named(profile.a);
    link.b = device_named(profile.b);
    link.generation = profile.generation;
    link.width = profile.width;
    link.lanes_up = profile.up ? profile.lanes : 0;
    link.bandwidth = profile.bandwidth;
    link.peer = link.up() ? profile.peer : PeerAccess::none;
    link.peer_advertised = link.peer != PeerAccess::none;
    if (faults.any()) spoil(link, faults);
    return link;
}

} // namespace

std::vector<LinkState> Machine::links() const {
    std::vector<LinkState> all;
    for (const ProfileLink &link : parts_->profile.links) all.push_back(state_of(link, parts_->faults));
    return all;
}

LinkState Machine::host_link(int device) const {
    for (const ProfileLink &link : parts_->profile.links) {
        const int a = device_named(link.a), b = device_named(link.b);
        if ((a == device && b < 0) || (b == device && a < 0)) return state_of(link, parts_->faults);
    }
    return {};
}

LinkState Machine::peer_link(int a, int b) const {
    for (const ProfileLink &link : parts_->profile.links) {
        const int one = device_named(link.a), two = device_named(link.b);
        if ((one == a && two == b) || (one == b && two == a)) return state_of(link, parts_->faults);
    }
    return {};
}

bool Machine::peer_advertised(int from, int to) const {
    if (from == to || from < 0 || to < 0 || from >= device_count() || to >= device_count()) return false;
    if (parts_->faults.any() && parts_->faults.on(Fault::peer_lies, from)) return true;
    return peer_link(from, to).peer_advertised;
}

PeerAccess Machine::peer_access(int from, int to) const {
    if (from == to) return PeerAccess::works;
    const LinkState link = peer_link(from, to);
    if (!link.profile && parts_->faults.any() && parts_->faults.on(Fault::peer_lies, from)) return PeerAccess::drops;
    return link.peer;
}

Outcome Machine::enable_peer(int from, int to) {
    if (!peer_advertised(from, to)) return Outcome::unsupported;
    const std::lock_guard lock(parts_->mutex);
    return parts_->peers.emplace(from, to).second ? Outcome::ok : Outcome::busy;
}

Outcome Machine::disable_peer(int from, int to) {
    const std::lock_guard lock(parts_->mutex);
    return parts_->peers.erase({from, to}) != 0 ? Outcome::ok : Outcome::invalid;
}

bool Machine::peer_enabled(int from, int to) const {
    const std::lock_guard lock(parts_->mutex);
    return parts_->peers.contains({from, to});
}

} // namespace hbf::model
