// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/cxl.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string folder = "sys/class/nvme";

std::vector<std::string> controllers(Look &look) {
    auto out = numbered(look, folder, "nvme");
    if (out.empty()) look.not_applicable("this machine has no NVMe drive");
    return out;
}

void state(Look &look) {
    for (const std::string &name : controllers(look)) {
        const auto now = look.need_word(below(folder, name, "state"),
                                        {"live", "new", "resetting", "connecting", "deleting", "deleting (no IO)", "dead"});
        if (!now) continue;
        if (*now == "live")
            look.pass(name + " works");
        else
            look.fail(fmt::format("{} is {}", name, *now));
    }
}

// "hwmon3" below the controller: temp1 is the drive's own composite temperature, in thousandths of a degree.
void temperature(Look &look) {
    for (const std::string &name : controllers(look)) {
        const auto monitors = numbered(look, below(folder, name), "hwmon");
        if (monitors.empty()) look.cannot_tell(name + ": the kernel shows no temperature");
        for (const std::string &monitor : monitors) {
            const std::string at = below(folder, name, monitor, "temp1_");
            const auto now = look.need_number(at + "input"), critical = look.need_number(at + "crit");
            if (!now || !critical) continue;
            if (*critical < 30000 || *critical > 200000 || *now > 200000)
                look.garbled(at + "crit", "a temperature in thousandths of a degree");
            else if (*now >= *critical)
                look.fail(fmt::format("{} is at {} degrees, {} is critical", name, *now / 1000, *critical / 1000));
            else if (*now + 5000 >= *critical)
                look.warn(fmt::format("{} is at {} degrees, close to its critical {}", name, *now / 1000, *critical / 1000));
            else
                look.pass(fmt::format("{} is at {} degrees", name, *now / 1000));
        }
    }
}

void health(Look &look) {
    for (const std::string &name : controllers(look))
        look.cannot_tell(fmt::format("{}: its health log takes a command to the drive: smartctl -A /dev/{}", name, name));
}

void timeout(Look &look) {
    if (controllers(look).empty()) return;
    const std::string file = "sys/module/nvme_core/parameters/io_timeout";
    const auto seconds = look.need_number(file);
    if (!seconds) return;
    if (*seconds >= 10 && *seconds <= UINT32_MAX) return look.pass(fmt::format("a request may take {} s", *seconds));
    if (*seconds == 0 || *seconds > UINT32_MAX) return look.garbled(file, "a number of seconds");
    look.warn(fmt::format("a request may take only {} s: a drive that cleans up is taken for lost", *seconds));
    look.fix_boot("nvme_core.io_timeout=30", "the kernel's command line");
}

constexpr std::array checks = {
    Check{"nvme.state", "NVMe drives work", "sys/class/nvme/nvme*/state",
          "a drive that is reset or dead fails every read of the cold tier",
          "look at the kernel's log for it; power it off and on", state},
    Check{"nvme.temperature", "NVMe drives are not hot", "sys/class/nvme/nvme*/hwmon*/temp1_input, temp1_crit",
          "a hot drive slows down, then stops", "improve its cooling", temperature},
    Check{"nvme.health", "NVMe drives report no warning", "sys/class/nvme",
          "spare blocks that run out and media errors are in its health log only",
          "look at critical_warning, media errors and available spare in its health log", health},
    Check{"nvme.timeout", "requests have time", "sys/module/nvme_core/parameters/io_timeout",
          "with a short timeout a busy drive is reset, and its requests fail", "use 30 s, the kernel's own default",
          timeout},
};

} // namespace

std::span<const Check> nvme_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
