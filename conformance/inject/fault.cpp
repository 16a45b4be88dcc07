// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/fault.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/inject/commands.hpp"
#include "core/common/suggest.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::inject {
namespace {

std::vector<const FaultInfo *> &registered() {
    static std::vector<const FaultInfo *> faults;
    return faults;
}

// What a value looks like: the choices, the preset first, or the preset.
std::string values_of(const Parameter &parameter) {
    std::string values(parameter.preset.empty() ? parameter.kind == Parameter::name ? "NAME" : "N" : parameter.preset);
    for (const std::string_view choice : parameter.choices)
        if (choice != parameter.preset) values += fmt::format("|{}", choice);
    return values;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::unique_ptr<Fault> make_fault(std::string_view text) {
    std::string name(trimmed(text.substr(0, text.find(','))));
    std::replace(name.begin(), name.end(), '_', '-');
    const std::string_view rest = text.find(',') == text.npos ? std::string_view() : text.substr(text.find(',') + 1);
    for (const FaultInfo *fault : all_faults()) {
        if (fault->name != name) continue;
        const Settings settings(name, trimmed(rest), fault->all_parameters());
        if (settings.number("rate") == 0)
            sdk::fail(HBF_INVALID, fmt::format("fault {}: rate=0 would never act: 1 is every time", name));
        return fault->make(settings);
    }
    std::vector<std::string> names;
    for (const FaultInfo *fault : all_faults()) names.emplace_back(fault->name);
    sdk::fail(HBF_INVALID, fmt::format("option inject.fault: there is no fault \"{}\"{}; \"hbf conformance --inject help\" "
                                       "lists them",
                                       name, did_you_mean(name, names)));
}

} // namespace

FaultRegistration::FaultRegistration(const FaultInfo &info) {
    auto &faults = registered();
    faults.insert(std::upper_bound(faults.begin(), faults.end(), &info,
                                   [](const FaultInfo *a, const FaultInfo *b) { return a->name < b->name; }),
                  &info);
}

const std::vector<const FaultInfo *> &all_faults() {
    return registered();
}

void Fault::started() {
    if (!settings_.has("tier") || !settings_.given("tier")) return;
    const std::string &wanted = settings_.text("tier");
    std::vector<std::string> names;
    for (const hbf_tier_info &tier : device().tiers()) names.emplace_back(tier.name, strnlen(tier.name, sizeof tier.name));
    for (uint32_t i = 0; i < names.size(); ++i)
        if (names[i] == wanted) tier_ = i;
    if (tier_ == HBF_TIER_NONE)
        sdk::fail(HBF_INVALID, fmt::format("option inject.fault: the plugin has no tier \"{}\"{}; it has {}", wanted,
                                           did_you_mean(wanted, names), fmt::join(names, ", ")));
}

bool Fault::in_tier(const hbf_command &command) const {
    if (tier_ == HBF_TIER_NONE) return true;
    const auto region = device().regions().find(destination(command).region);
    return region && region->tier == tier_;
}

bool Fault::completes_well(Queue &queue, uint64_t value) {
    if (below_->wait(queue, value, patience_ns, nullptr) != HBF_OK) return false;
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    return below_->poll(queue, &progress) == HBF_OK && (progress.failed == 0 || progress.failed > value);
}

std::vector<Parameter> FaultInfo::all_parameters() const {
    std::vector<Parameter> all = parameters;
    all.push_back({.key = "after", .preset = "0", .line = "so many events pass first"});
    all.push_back({.key = "rate", .preset = "1", .line = "then every so-manieth is hit"});
    all.push_back({.key = "count", .preset = "0", .line = "at most so many; 0: no limit"});
    all.push_back({.key = "seed", .preset = "1", .line = "of what is drawn at random"});
    return all;
}

std::vector<std::unique_ptr<Fault>> make_faults(std::string_view text) {
    std::vector<std::unique_ptr<Fault>> faults;
    while (!trimmed(text).empty()) {
        const std::string_view item = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(item.size() + 1, text.size()));
        faults.push_back(make_fault(trimmed(item)));
    }
    return faults;
}

std::string faults_table() {
    std::string text = "| fault | what is wrong | parameters |\n|---|---|---|\n";
    for (const FaultInfo *fault : all_faults()) {
        std::string parameters;
        for (const Parameter &parameter : fault->parameters)
            parameters += fmt::format("{}`{}={}` {}", parameters.empty() ? "" : "; ", parameter.key, values_of(parameter),
                                      parameter.line);
        std::replace(parameters.begin(), parameters.end(), '|', '/');
        text += fmt::format("| `{}` | {} | {} |\n", fault->name, fault->line, parameters);
    }
    return text;
}

std::string faults_help() {
    std::string text = "Every fault has after=N, rate=R, count=N and seed=S: N events pass, then every R-th is hit.\n\n";
    for (const FaultInfo *fault : all_faults()) {
        text += fmt::format("{}\n    {}\n", fault->name, fault->line);
        for (const Parameter &parameter : fault->parameters) {
            text += fmt::format("      {}={}  {}\n", parameter.key, values_of(parameter), parameter.line);
        }
    }
    return text;
}

} // namespace hbf::inject
