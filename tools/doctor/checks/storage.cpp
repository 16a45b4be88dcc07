// SPDX-License-Identifier: Apache-2.0
// Where the cold tier's file lies, and how the drives below take reads and writes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/common/version_range.hpp"
#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/cxl.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/mounts.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string folder = "sys/block";

// NVMe namespaces: "nvme0n1", not the hidden paths of a multipath drive ("nvme0c0n1").
std::vector<std::string> drives(Look &look) {
    std::vector<std::string> out = numbered(look, folder, "nvme");
    std::erase_if(out, [](const std::string &name) { return name.find('c') != std::string::npos; });
    if (out.empty()) look.not_applicable("this machine has no NVMe drive");
    return out;
}

// The folder that the host plugin makes its file in, unless its option storage_path says otherwise.
std::optional<std::string> cold_folder(Look &look) {
    const auto variables = process_environment(look);
    if (!variables) return std::nullopt;
    const auto value = [&](const char *name) {
        const auto found = variables->find(name);
        return found != variables->end() && found->second.starts_with('/') ? found->second : std::string();
    };
    if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty()) return cache + "/hbf/storage";
    if (const std::string home = value("HOME"); !home.empty()) return home + "/.cache/hbf/storage";
    look.cannot_tell("neither XDG_CACHE_HOME nor HOME names a folder: where the cold tier would lie is not known");
    return std::nullopt;
}

void filesystem(Look &look) {
    const auto cold = cold_folder(look);
    const auto mounts = read_mounts(look);
    if (!cold || !mounts) return;
    const Mount *mount = mount_of(*mounts, *cold);
    if (!mount) return look.cannot_tell("nothing is mounted that " + *cold + " lies on");
    look.seen(*cold, fmt::format("{} at {}", mount->type, mount->at));
    const std::string &type = mount->type;
    if (type == "ext4" || type == "xfs") return look.pass(fmt::format("the cold tier lies on {}", type));
    if (type == "btrfs" || type == "overlay" || type == "zfs" || type == "bcachefs")
        look.fail(fmt::format("the cold tier would lie on {}, which writes elsewhere than it is told to", type));
    else if (type == "tmpfs" || type == "ramfs")
        look.warn(fmt::format("the cold tier would lie on {}, which is memory", type));
    else
        look.warn(fmt::format("the cold tier would lie on {}, on which hbf was never tried", type));
    look.fix("export XDG_CACHE_HOME=/path/on/ext4/or/xfs",
             "where this shell's programs keep caches, the cold tier among them");
}

void scheduler(Look &look) {
    for (const std::string &name : drives(look)) {
        const std::string file = below(folder, name, "queue/scheduler");
        const auto chosen = look.need_word(file, {"none", "mq-deadline", "kyber", "bfq"});
        if (!chosen) continue;
        if (*chosen == "none") {
            look.pass(name + " gets requests as they come");
            continue;
        }
        look.warn(fmt::format("requests to {} are put in order by {}", name, *chosen));
        look.fix(fmt::format("echo none > /{}", file), "requests go to the drive as they come");
        look.fix("echo 'ACTION==\"add|change\", KERNEL==\"nvme*\", ATTR{queue/scheduler}=\"none\"' > "
                 "/etc/udev/rules.d/90-hbf.rules",
                 "the same for every NVMe drive, from the next boot on", true);
    }
}

void write_cache(Look &look) {
    for (const std::string &name : drives(look)) {
        const auto kind = look.need_text(below(folder, name, "queue/write_cache"));
        if (!kind) continue;
        if (*kind == "write through")
            look.pass(name + " has no cache that loses data, or one that survives");
        else if (*kind == "write back")
            look.warn(name + " keeps writes in a cache that a power cut may empty");
        else
            look.garbled(below(folder, name, "queue/write_cache"), "write through or write back");
    }
}

void block_size(Look &look) {
    for (const std::string &name : drives(look)) {
        const std::string file = below(folder, name, "queue/logical_block_size");
        const auto bytes = look.need_number(file);
        if (!bytes) continue;
        if (*bytes == 512 || *bytes == 4096)
            look.pass(fmt::format("{} takes blocks of {} bytes", name, *bytes));
        else if (*bytes < 512 || *bytes > 65536 || (*bytes & (*bytes - 1)) != 0)
            look.garbled(file, "a power of two of 512 or more");
        else
            look.warn(fmt::format("{} takes blocks of {} bytes: smaller reads are not possible", name, *bytes));
    }
}

void transfer_size(Look &look) {
    constexpr uint64_t enough = 128; // KiB, the least that drives commonly take
    for (const std::string &name : drives(look)) {
        const std::string file = below(folder, name, "queue/max_sectors_kb");
        const auto kib = look.need_number(file), hardware = look.need_number(below(folder, name, "queue/max_hw_sectors_kb"));
        if (!kib || !hardware) continue;
        if (*kib == 0 || *kib > *hardware) {
            look.garbled(file, fmt::format("1 to {}", *hardware));
        } else if (*kib >= std::min(enough, *hardware)) {
            look.pass(fmt::format("{} takes {} KiB at once", name, *kib));
        } else {
            look.warn(fmt::format("{} takes only {} KiB at once of {}", name, *kib, *hardware));
            look.fix(fmt::format("echo {} > /{}", *hardware, file), "larger requests to this drive");
        }
    }
}

void alignment(Look &look) {
    const auto kernel = kernel_version(look);
    if (!kernel) return;
    if (version_in_range("<6.1", *kernel))
        return look.warn(
            fmt::format("kernel {} does not say how direct reads and writes must be aligned: hbf tries", *kernel));
    look.cannot_tell("alignment is told for a file, which hbf doctor does not make; hbf probe shows it");
}

constexpr std::array checks = {
    Check{"storage.filesystem", "the cold tier lies on a file system that keeps to direct I/O",
          "proc/self/environ, proc/self/mountinfo",
          "copy-on-write file systems take direct writes through the page cache or write checksummed copies: mixing both "
          "ways of access can lose data",
          "let the cold tier lie on ext4 or xfs (option storage_path of the host plugin, or XDG_CACHE_HOME)", filesystem},
    Check{"storage.scheduler", "requests go to NVMe drives as they come", "sys/block/nvme*/queue/scheduler",
          "putting requests in order costs more time than such a drive takes for them", "set the scheduler to none",
          scheduler},
    Check{"storage.write_cache", "what was written survives a power cut", "sys/block/nvme*/queue/write_cache",
          "a write that completed may be in a volatile cache only; blocks of the cold tier have checksums, so that loss is "
          "noticed, not undone",
          "use drives with protection against power loss where cold data must survive", write_cache},
    Check{"storage.block_size", "drives take blocks of 512 or 4096 bytes", "sys/block/nvme*/queue/logical_block_size",
          "direct reads and writes must be aligned to it",
          "format the drive with another size (nvme format): this erases it", block_size},
    Check{"storage.transfer_size", "drives take large requests", "sys/block/nvme*/queue/max_sectors_kb, max_hw_sectors_kb",
          "large blocks are cut into many requests, each with its own overhead", "raise max_sectors_kb", transfer_size},
    Check{"storage.direct_alignment", "alignment of direct I/O is told, not guessed", "proc/sys/kernel/osrelease",
          "from 6.1 on the kernel tells the alignment that a file needs (statx, STATX_DIOALIGN); before, it must be tried",
          "hbf probe says on the line of the storage tier by how many bytes it reads", alignment},
};

} // namespace

std::span<const Check> storage_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
