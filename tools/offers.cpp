// SPDX-License-Identifier: Apache-2.0
#include "tools/offers.hpp"

#include <set>

#include "conformance/inject/fault.hpp"
#include "conformance/integrity/pattern.hpp"
#include "conformance/mutants/catalogue.hpp"
#include "conformance/runner/case_process.hpp"
#include "conformance/runner/programs.hpp"
#include "conformance/suite/case.hpp"
#include "hbf/selection.hpp"

namespace hbf::tools {
namespace {

using Names = std::set<std::string>;

std::vector<std::string> listed(const Names &names) {
    return {names.begin(), names.end()};
}

std::vector<Candidate> serving() {
    ConfigSources sources;
    sources.api.emplace("plugins.probe_timeout_s", "1"); // nobody waits longer for a key to answer
    const auto config = Config::load(sources);
    if (!config) return {};
    SelectOptions options;
    options.open = false;
    const auto selection = select_plugins(*config, options);
    std::vector<Candidate> out;
    if (selection)
        for (const Candidate &one : selection->candidates)
            if (one.reason == Reason::selected) out.push_back(one);
    return out;
}

} // namespace

std::vector<std::string> device_names() {
    Names out;
    for (const Candidate &plugin : serving()) {
        out.insert(plugin.name);
        for (const ProbedDevice &device : plugin.devices) out.insert(device.id);
    }
    return listed(out);
}

std::vector<std::string> tier_names() {
    Names out;
    for (const char *kind : {"hbm", "hbf", "cold"}) out.emplace(kind);
    for (const Candidate &plugin : serving())
        for (const ProbedDevice &device : plugin.devices)
            for (const TierInfo &tier : device.tiers) out.insert(tier.name);
    return listed(out);
}

std::vector<std::string> case_names() {
    const auto program = conformance::case_program();
    if (!program) return {};
    conformance::CaseProcess process;
    process.program = *program;
    const auto cases = conformance::list_cases(process);
    Names out;
    if (cases)
        for (const auto &one : *cases)
            if (!one.hidden) out.insert(one.group()), out.insert(one.name);
    return listed(out);
}

std::vector<std::string> fault_names() {
    Names out;
    for (const inject::FaultInfo *fault : inject::all_faults()) out.insert(std::string(fault->name));
    return listed(out);
}

std::vector<std::string> mask_names() {
    Names out;
    out.emplace("all");
    for (uint32_t bit = 1; bit != 0; bit <<= 1)
        if (conformance::need::maskable & bit) out.insert(std::string(conformance::need_name(bit)));
    return listed(out);
}

std::vector<std::string> mutant_names() {
    Names out;
    for (const auto &mutant : conformance::all_mutants()) out.insert(std::string(mutant.name));
    return listed(out);
}

std::vector<std::string> pattern_names() {
    Names out;
    for (const auto &pattern : integrity::patterns()) out.insert(std::string(pattern.name));
    return listed(out);
}

} // namespace hbf::tools
