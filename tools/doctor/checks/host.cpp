// SPDX-License-Identifier: Apache-2.0
// Where this runs: on the machine itself or in something that shows less of it.
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/mounts.hpp"

namespace hbf::tools::doctor {
namespace {

void privileges(Look &look) {
    const auto root = is_root(look);
    if (!root) return;
    if (*root) return look.pass("runs as root");
    look.root_only();
    look.warn("runs without root: the kernel's log and the settings of PCI bridges are not told to this user");
    look.fix("sudo hbf doctor", "nothing; looks again with all rights");
}

void container(Look &look) {
    for (const char *mark : {".dockerenv", "run/.containerenv"})
        if (look.exists(mark)) return look.warn(fmt::format("runs in a container ({} is there)", look.full(mark)));
    if (const auto kind = look.text("run/systemd/container"); kind && !kind->empty())
        return look.warn(fmt::format("runs in a container ({})", *kind));
    const auto mounts = read_mounts(look);
    if (!mounts) return;
    const Mount *root = mount_of(*mounts, "/");
    if (!root) return look.cannot_tell("no file system is mounted at /");
    look.seen("file system of /", root->type);
    if (root->type == "overlay") return look.warn("runs in a container, or on a live system (/ is an overlay)");
    look.pass(fmt::format("no mark of a container; / is {}", root->type));
}

void virtual_machine(Look &look) {
    const auto guest = is_virtual(look);
    if (!guest) return;
    if (*guest) return look.warn("runs in a virtual machine: nodes, links and error counters may not be the hardware's");
    look.pass("no mark of a virtual machine");
}

constexpr std::array checks = {
    Check{
        "host.privileges", "all checks may look everywhere", "proc/self/status",
        "without root, PCI configuration beyond 64 bytes and the kernel's log stay hidden; those checks then say that they "
        "cannot tell",
        "run hbf doctor once as root", privileges},
    Check{
        "host.container", "no container stands between",
        ".dockerenv, run/.containerenv, run/systemd/container, proc/self/mountinfo",
        "a container shows the host's settings but has limits, devices and mounts of its own; some files of /sys are hidden",
        "run hbf doctor on the host too; give the container what it needs: --ulimit memlock=-1, its devices, its nodes",
        container},
    Check{"host.virtual_machine", "no virtual machine stands between",
          "proc/cpuinfo, sys/hypervisor/type, sys/class/dmi/id/sys_vendor",
          "a guest sees made-up topology, no error counters of the host, and cannot create CXL regions; figures are the "
          "guest's, not the hardware's",
          "measure on the host, or have node, link and huge page layout passed through", virtual_machine},
};

} // namespace

std::span<const Check> host_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
