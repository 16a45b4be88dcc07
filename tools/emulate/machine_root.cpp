// SPDX-License-Identifier: Apache-2.0
#include "tools/emulate/machine_root.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/host/memory_room.hpp"
#include "core/host/parse.hpp"
#include "core/host/root.hpp"
#include "tools/emulate/root_pci.hpp"
#include "tools/emulate/root_writer.hpp"

namespace hbf::tools::emulate {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kib = 1024;

void write_node(const RootWriter &out, const model::ProfileNode &node) {
    const fs::path at = fmt::format("sys/devices/system/node/node{}", node.id);
    out.file(at / "cpulist", node.cpus + "\n");
    out.file(at / "meminfo",
             fmt::format("Node {0} MemTotal: {1} kB\nNode {0} MemFree: {1} kB\n", node.id, node.memory / kib));
    if (!node.distances.empty()) out.file(at / "distance", node.distances + "\n");
    constexpr uint64_t megabyte = 1000000;
    if (node.bandwidth) out.file(at / "access0/initiators/read_bandwidth", fmt::format("{}\n", node.bandwidth / megabyte));
    if (node.latency_ns) out.file(at / "access0/initiators/read_latency", fmt::format("{}\n", node.latency_ns));
    if (!node.cxl) return;
    // As the kernel shows an expander whose memory it took into the pool.
    const fs::path dax = fmt::format("sys/bus/dax/devices/dax{}.0", node.id);
    out.file(dax / "size", fmt::format("{}\n", node.memory));
    out.file(dax / "target_node", fmt::format("{}\n", node.id));
    out.link(dax / "driver", "../../../bus/dax/drivers/kmem");
    const fs::path expander = fmt::format("sys/bus/cxl/devices/mem{}", node.id);
    out.file(expander / "ram/size", fmt::format("{:#x}\n", node.memory));
    out.file(expander / "pmem/size", "0x0\n");
    out.file(expander / "numa_node", "0\n");
}

// What can be had is what is here, whatever the machine has: who plans with more is killed.
void write_memory(const RootWriter &out) {
    std::vector<std::string> problems;
    host::Reader here("/", problems);
    const auto total = host::meminfo_bytes(here.text("proc/meminfo").value_or(""), "MemTotal");
    if (!total) throw std::runtime_error("/proc/meminfo: no MemTotal in it");
    const uint64_t room = std::min(host::memory_room(here).bytes, *total);
    out.file("proc/meminfo",
             fmt::format("MemTotal: {} kB\nMemFree: {} kB\nMemAvailable: {} kB\n", *total / kib, room / kib, room / kib));
}

void write_all(const RootWriter &out, const model::Profile &profile, bool closed) {
    const model::ProfileHost &host = profile.host;
    out.file(host::emulation_marker, profile.name + "\n" + profile.title + "\n");
    out.file("proc/cpuinfo", fmt::format("processor\t: 0\nmodel name\t: {} (emulated)\n", host.cpu));
    for (const model::ProfileNode &node : host.nodes) write_node(out, node);
    write_memory(out);
    out.file("proc/cmdline", host.iommu == "off" ? "\n" : host.iommu == "pt" ? "iommu=pt\n" : "iommu=nopt\n");
    out.folder("sys/kernel/iommu_groups");
    out.folder("sys/bus/pci/devices");
    out.folder("sys/block");
    for (const char *file : {"proc/sys/kernel/osrelease", "proc/sys/kernel/random/boot_id", "proc/self/limits",
                             "proc/self/status", "proc/sys/vm/overcommit_memory", "proc/sys/vm/swappiness",
                             "proc/sys/kernel/numa_balancing", "proc/sys/kernel/io_uring_disabled",
                             "sys/kernel/mm/transparent_hugepage/enabled", "sys/kernel/mm/transparent_hugepage/defrag"})
        out.as_here(file);
    for (size_t i = 0; i < profile.devices.size(); ++i) write_device(out, profile, i, closed);
    if (host.acs_redirect) write_redirecting_bridge(out);
}

} // namespace

Result<MachineRoot> MachineRoot::make(const model::Profile &of, const std::vector<model::FaultSetting> &faults) {
    model::Profile profile = of;
    spoil(profile, faults);
    const bool closed = std::any_of(faults.begin(), faults.end(), [](const model::FaultSetting &one) {
        return one.fault == model::Fault::init_permission;
    });
    std::error_code error;
    const fs::path place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : fs::temp_directory_path(error);
    std::string pattern = (place / "hbf-emulate-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
        return fail(Code::unavailable,
                    fmt::format("no folder {} for the machine's files: {}", pattern, std::strerror(errno)));
    MachineRoot root{fs::path(pattern)};
    try {
        write_all(RootWriter(root.path()), profile, closed);
    } catch (const std::exception &failure) {
        return fail(Code::unavailable, failure.what());
    }
    return root;
}

MachineRoot::MachineRoot(MachineRoot &&other) noexcept : path_(std::exchange(other.path_, {})) {}

MachineRoot::~MachineRoot() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
}

} // namespace hbf::tools::emulate
