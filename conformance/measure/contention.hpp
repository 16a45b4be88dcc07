// SPDX-License-Identifier: Apache-2.0
// Who else used the CPUs while a sample ran: busy and stolen time of the whole machine less this process's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hbf::measure {

struct CpuUse {
    double busy = 0, steal = 0, total = 0; // seconds, of all CPUs together
    double own = 0;                        // seconds, of this process
    uint64_t involuntary_switches = 0;     // of this process
};

// From below `root`; nothing where /proc/stat cannot be read.
std::optional<CpuUse> read_cpu_use(const std::filesystem::path &root = "/");

struct Contention {
    double foreign = 0, steal = 0; // share of the machine's CPU time, 0..1
    uint64_t involuntary_switches = 0;
    bool contended = false; // foreign > 5 % or steal > 1 %, and more than the clock's coarse tick explains
};
Contention contention_between(const CpuUse &before, const CpuUse &after);

} // namespace hbf::measure
