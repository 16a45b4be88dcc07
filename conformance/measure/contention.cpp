// SPDX-License-Identifier: Apache-2.0
#include "conformance/measure/contention.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace hbf::measure {
namespace {

double tick_seconds() {
    const long ticks = sysconf(_SC_CLK_TCK);
    return 1.0 / static_cast<double>(ticks > 0 ? ticks : 100);
}

double seconds_of(const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

} // namespace

std::optional<CpuUse> read_cpu_use(const std::filesystem::path &root) {
    std::ifstream file(root / "proc/stat");
    std::string label;
    // guest time is already counted in user time
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (!(file >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) || label != "cpu") {
        return std::nullopt;
    }
    const double tick = tick_seconds();
    CpuUse out;
    out.busy = (user + nice + system + irq + softirq) * tick;
    out.steal = steal * tick;
    out.total = out.busy + out.steal + (idle + iowait) * tick;
    rusage own = {};
    getrusage(RUSAGE_SELF, &own);
    out.own = seconds_of(own.ru_utime) + seconds_of(own.ru_stime);
    out.involuntary_switches = static_cast<uint64_t>(own.ru_nivcsw);
    return out;
}

Contention contention_between(const CpuUse &before, const CpuUse &after) {
    Contention out;
    out.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
    const double total = after.total - before.total;
    if (total <= 0) return out;
    const double foreign = std::max(0.0, (after.busy - before.busy) - (after.own - before.own));
    const double steal = std::max(0.0, after.steal - before.steal);
    out.foreign = foreign / total;
    out.steal = steal / total;
    // /proc/stat counts whole ticks: up to two may be someone else's, seen at the edges.
    const double tick = tick_seconds();
    out.contended = (out.foreign > 0.05 && foreign > 2 * tick) || (out.steal > 0.01 && steal > tick);
    return out;
}

} // namespace hbf::measure
