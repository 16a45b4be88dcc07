// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

void variables_of(Look &look, bool hides, const char *clean) {
    const auto devices = accelerators(look);
    if (!any(look, devices, "accelerator")) return;
    const auto environment = process_environment(look);
    if (!environment) return;
    bool set = false;
    for (const Variable &variable : variables()) {
        const auto found = environment->find(std::string(variable.name));
        const bool here =
            std::any_of(devices.begin(), devices.end(), [&](const Pci &pci) { return pci.vendor == variable.vendor; });
        if (variable.hides != hides || found == environment->end() || !here) continue;
        set = true;
        look.seen(std::string(variable.name), found->second);
        look.warn(fmt::format("{} is set: {}", variable.name, variable.effect));
        look.fix(fmt::format("unset {}", variable.name), "this shell and what it starts");
    }
    if (!set) look.pass(clean);
}

void visibility(Look &look) {
    variables_of(look, true, "no variable hides or numbers devices");
}

void behaviour(Look &look) {
    variables_of(look, false, "no variable changes how runtimes behave");
}

constexpr std::array checks = {
    Check{"environment.visibility", "no variable hides devices", "proc/self/environ",
          "device numbers then mean other devices than elsewhere; compare devices by PCI address",
          "unset it, or note it beside every result", visibility},
    Check{"environment.behaviour", "no variable changes a runtime", "proc/self/environ",
          "results hold for this setting only", "unset it, or note it beside every result", behaviour},
};

} // namespace

std::span<const Check> environment_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
