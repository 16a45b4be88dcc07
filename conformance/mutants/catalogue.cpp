// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

#include <utility>

namespace hbf::conformance {

const std::vector<Mutant> &all_mutants() {
    static const std::vector<Mutant> all = [] {
        std::vector<Mutant> mutants;
        for (auto *const group :
             {catalogue::abi, catalogue::agents, catalogue::async, catalogue::bandwidth, catalogue::coherence,
              catalogue::dma, catalogue::emulated, catalogue::integrity, catalogue::kernels, catalogue::lifecycle,
              catalogue::security, catalogue::select, catalogue::threads, catalogue::tier})
            for (Mutant &mutant : group()) mutants.push_back(std::move(mutant));
        return mutants;
    }();
    return all;
}

const Mutant *find_mutant(std::string_view name) {
    for (const Mutant &mutant : all_mutants())
        if (mutant.name == name) return &mutant;
    return nullptr;
}

std::string to_string(Base base, std::string_view vendor) {
    switch (base) {
    case Base::sim:
        return "sim";
    case Base::host:
        return "host";
    case Base::variant:
        return "variant";
    case Base::guard:
        return "guard";
    case Base::emulated:
        return "emulated " + std::string(vendor);
    }
    return "unknown";
}

} // namespace hbf::conformance
