// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/agreement.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace hbf::conformance {

std::vector<std::string> disagreements(const std::vector<CaseEntry> &cases, const std::vector<Mutant> &mutants) {
    std::vector<std::string> found;
    const auto say = [&]<class... A>(fmt::format_string<A...> text, A &&...args) {
        found.push_back(fmt::format(text, std::forward<A>(args)...));
    };
    std::map<std::string_view, const CaseEntry *> case_of;
    for (const CaseEntry &entry : cases) case_of[entry.name] = &entry;
    std::map<std::string_view, const Mutant *> mutant_of;
    for (const Mutant &mutant : mutants) {
        if (!mutant_of.emplace(mutant.name, &mutant).second) say("mutant {} is there twice", mutant.name);
        if (mutant.killers.empty()) say("mutant {} names no case that must find it", mutant.name);
        for (const std::string_view killer : mutant.killers) {
            const auto at = case_of.find(killer);
            if (at == case_of.end()) {
                say("mutant {} is to be killed by {}, and there is no such case", mutant.name, killer);
            } else if (const auto &kills = at->second->kills;
                       std::find(kills.begin(), kills.end(), mutant.name) == kills.end()) {
                say("mutant {} is to be killed by {}, which does not list it", mutant.name, killer);
            }
        }
    }
    for (const CaseEntry &entry : cases) {
        if (!entry.hidden && entry.kills.empty() && entry.unproven.empty())
            say("case {} kills no mutant, and does not say why none can be made", entry.name);
        for (const std::string &kill : entry.kills) {
            const auto at = mutant_of.find(kill);
            if (at == mutant_of.end()) {
                say("case {} is to kill {}, and there is no such mutant", entry.name, kill);
            } else if (const auto &killers = at->second->killers;
                       std::find(killers.begin(), killers.end(), entry.name) == killers.end()) {
                say("case {} is to kill {}, which does not list it", entry.name, kill);
            }
        }
    }
    return found;
}

} // namespace hbf::conformance
