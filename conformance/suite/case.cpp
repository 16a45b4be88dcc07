// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/case.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace hbf::conformance {
namespace {

constexpr std::array<std::pair<uint32_t, std::string_view>, 15> needs = {{{need::cpu_tier, "cpu_tier"},
                                                                          {need::dma_only_tier, "dma_only_tier"},
                                                                          {need::two_tiers, "two_tiers"},
                                                                          {need::cancel, "cancel"},
                                                                          {need::crc, "crc"},
                                                                          {need::launch, "launch"},
                                                                          {need::coherence, "coherence"},
                                                                          {need::software_domain, "software_domain"},
                                                                          {need::hardware_domain, "hardware_domain"},
                                                                          {need::atomics, "atomics"},
                                                                          {need::persistent, "persistent"},
                                                                          {need::register_host, "register_host"},
                                                                          {need::health, "health"},
                                                                          {need::third_party, "third_party"},
                                                                          {need::export_import, "export_import"}}};

// Filled before main, in whatever order the files are linked.
std::vector<const Case *> &registry() {
    static std::vector<const Case *> cases;
    return cases;
}

bool is_name(std::string_view name) {
    const bool legal = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
    const auto dots = std::count(name.begin(), name.end(), '.');
    return legal && dots >= 1 && name.size() <= 120 && name.front() != '.' && name.back() != '.';
}

bool before(const Case *left, std::string_view right) {
    return left->name < right;
}

} // namespace

std::string_view need_name(uint32_t bit) {
    for (const auto &[value, name] : needs)
        if (value == bit) return name;
    return "an unknown need";
}

std::string need_names(uint32_t bits) {
    std::string out;
    for (const auto &[value, name] : needs) {
        if (!(bits & value)) continue;
        if (!out.empty()) out += ", ";
        out += name;
    }
    return out;
}

const std::vector<const Case *> &all_cases() {
    return registry();
}

const Case *find_case(std::string_view name) {
    const auto &cases = registry();
    const auto found = std::lower_bound(cases.begin(), cases.end(), name, before);
    return found != cases.end() && (*found)->name == name ? *found : nullptr;
}

Registration::Registration(const Case &entry) {
    auto &cases = registry();
    const auto place = std::lower_bound(cases.begin(), cases.end(), entry.name, before);
    const bool twice = place != cases.end() && (*place)->name == entry.name;
    if (twice || !is_name(entry.name)) {
        std::fprintf(stderr, "the case '%.*s' %s\n", static_cast<int>(entry.name.size()), entry.name.data(),
                     twice ? "is there twice" : "has no legal name");
        std::abort();
    }
    cases.insert(place, &entry);
}

} // namespace hbf::conformance
