// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/scene.hpp"

#include <algorithm>

namespace hbf::conformance::coherence {
namespace {

bool mapped(const Instance &device, uint32_t tier) {
    constexpr uint32_t access = HBF_ACCESS_CPU | HBF_ACCESS_DMA;
    const hbf_domain_info *domain = device.domain_of(tier);
    return (device.tier(tier).access & access) == access && domain && (domain->agents & HBF_AGENT_CPU);
}

} // namespace

std::vector<uint32_t> mapped_tiers(const Instance &device) {
    std::vector<uint32_t> out;
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier)
        if (mapped(device, tier)) out.push_back(tier);
    return out;
}

std::vector<uint32_t> mapped_tiers(const Instance &device, hbf_protocol protocol) {
    std::vector<uint32_t> out = mapped_tiers(device);
    std::erase_if(out, [&](uint32_t tier) { return device.domain_of(tier)->protocol != protocol; });
    return out;
}

std::vector<uint32_t> atomic_tiers(const Instance &device, uint32_t agents) {
    std::vector<uint32_t> out = mapped_tiers(device, HBF_PROTOCOL_HARDWARE);
    std::erase_if(out, [&](uint32_t tier) {
        const hbf_domain_info &domain = *device.domain_of(tier);
        return !(domain.atomic_widths & 8u) || (domain.agents & agents) != agents;
    });
    return out;
}

bool software(const Instance &device, uint32_t tier) {
    const hbf_domain_info *domain = device.domain_of(tier);
    return domain && domain->protocol == HBF_PROTOCOL_SOFTWARE;
}

uint64_t granule(const Instance &device, uint32_t tier) {
    const hbf_domain_info *domain = device.domain_of(tier);
    return domain ? std::max<uint64_t>(domain->granule, 1) : 1;
}

uint32_t observer_tier(const Instance &device, uint32_t otherwise) {
    const std::vector<uint32_t> coherent = mapped_tiers(device, HBF_PROTOCOL_HARDWARE);
    return coherent.empty() ? otherwise : coherent.front();
}

uint32_t batch_room(const Instance &device, uint32_t wanted) {
    return std::min(wanted, device.queue_info().max_commands);
}

std::byte generation_byte(uint64_t generation, uint64_t place) {
    uint64_t hash = place * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    return static_cast<std::byte>(hash + generation * 37); // 37 is odd: generations repeat after 256
}

void put_generation(std::byte *to, uint64_t size, uint64_t generation, uint64_t place) {
    for (uint64_t i = 0; i < size; ++i) to[i] = generation_byte(generation, place + i);
}

Look look(const std::byte *bytes, uint64_t size, uint64_t generation, uint64_t place) {
    Look out;
    for (uint64_t i = 0; i < size; ++i) {
        const std::byte expected = generation_byte(generation, place + i);
        if (bytes[i] == expected) continue;
        if (out.wrong++ == 0) {
            out.offset = i;
            out.expected = expected;
            out.actual = bytes[i];
        }
        out.stale += bytes[i] == generation_byte(generation - 1, place + i);
    }
    return out;
}

void expect_generation(Context &context, const Place &place, const Look &seen, std::string_view otherwise, std::string what,
                       std::string_view if_stale) {
    context.count_check();
    if (seen.wrong == 0) return;
    Evidence evidence;
    evidence.fault_class = seen.stale == seen.wrong ? if_stale : otherwise;
    evidence.tier = place.device->tier(place.region->tier).name;
    evidence.region = place.region->region;
    evidence.offset = place.offset + seen.offset;
    if (place.region->address) evidence.address = reinterpret_cast<uintptr_t>(at(*place.region, evidence.offset));
    evidence.expected = static_cast<uint64_t>(seen.expected);
    evidence.actual = static_cast<uint64_t>(seen.actual);
    evidence.width = 1;
    evidence.wrong_bytes = seen.wrong;
    evidence.detail = fmt::format("{}: {} bytes are wrong, {} of them as they were before", what, seen.wrong, seen.stale);
    std::string reason = evidence.detail;
    fail(std::move(reason), std::move(evidence));
}

void fail_at(std::string_view fault_class, const Place &place, std::string detail) {
    Evidence evidence;
    evidence.fault_class = fault_class;
    evidence.tier = place.device->tier(place.region->tier).name;
    evidence.region = place.region->region;
    evidence.offset = place.offset;
    if (place.region->address) evidence.address = reinterpret_cast<uintptr_t>(at(*place.region, place.offset));
    evidence.detail = detail;
    fail(std::move(detail), std::move(evidence));
}

std::string Sightings::text() const {
    return fmt::format("control {}: seen {} times in {}", name, seen, tries);
}

void require_seen(Context &context, const Sightings &control) {
    context.note(control.text());
    context.metric({.name = "coherence.control_seen", .unit = "1", .value = static_cast<double>(control.seen)});
    context.count_check();
    if (!control.enough())
        context.inconclusive(
            fmt::format("{}, {} are needed: without it a pass would say nothing", control.text(), Sightings::needed));
}

} // namespace hbf::conformance::coherence
