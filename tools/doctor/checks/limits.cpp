// SPDX-License-Identifier: Apache-2.0
// What this process may take, whatever the machine has.
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/kernel_facts.hpp"

namespace hbf::tools::doctor {
namespace {

constexpr unsigned cap_ipc_lock = 14; // linux/capability.h

std::string size_text(uint64_t bytes) {
    return bytes >= 1 << 30 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30))
                            : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// "Max locked memory         8388608              8388608              bytes"
std::optional<std::string> soft_limit(Look &look, std::string_view name) {
    const std::string path = "proc/self/limits";
    const auto text = look.need_text(path, Look::Form::text, Look::Show::no);
    if (!text) return std::nullopt;
    for (const std::string_view line : host::lines(*text)) {
        if (!line.starts_with(name)) continue;
        const auto words = host::words(line.substr(name.size()));
        if (words.size() >= 2) {
            look.seen(fmt::format("{} ({})", look.full(path), name), fmt::format("soft {}, hard {}", words[0], words[1]));
            return std::string(words[0]);
        }
    }
    look.cannot_tell(fmt::format("{}: no \"{}\" in it", look.full(path), name));
    return std::nullopt;
}

void memlock(Look &look) {
    const auto limit = soft_limit(look, "Max locked memory");
    const auto free_of_it = has_capability(look, cap_ipc_lock);
    if (!limit || !free_of_it) return;
    if (*limit == "unlimited") return look.pass("this process may pin any amount of memory");
    const auto bytes = host::parse_unsigned(*limit);
    if (!bytes) return look.cannot_tell(fmt::format("\"{}\" is no limit", *limit));
    if (*free_of_it)
        return look.pass(fmt::format("the limit of {} does not hold for this process (CAP_IPC_LOCK)", size_text(*bytes)));
    const std::string meminfo = "proc/meminfo";
    const auto text = look.need_text(meminfo, Look::Form::text, Look::Show::no);
    if (!text) return;
    const auto total = host::meminfo_bytes(*text, "MemTotal");
    if (!total) return look.cannot_tell(look.full(meminfo) + ": no MemTotal in it");
    if (*bytes >= *total) return look.pass("this process may pin as much memory as there is");
    look.warn(fmt::format("this process may pin {} of {}", size_text(*bytes), size_text(*total)));
    look.fix("ulimit -l unlimited", "this shell and what it starts, if the hard limit allows it");
    look.fix("printf '* soft memlock unlimited\\n* hard memlock unlimited\\n' > /etc/security/limits.d/90-hbf.conf",
             "every later login", true);
    look.fix("systemctl edit SERVICE   # [Service] LimitMEMLOCK=infinity", "that service", true);
    look.fix("docker run --ulimit memlock=-1 ...", "that container");
}

void open_files(Look &look) {
    constexpr uint64_t enough = 1024; // the kernel's own default
    const auto limit = soft_limit(look, "Max open files");
    if (!limit) return;
    const auto count = *limit == "unlimited" ? std::optional(UINT64_MAX) : host::parse_unsigned(*limit);
    if (!count) return look.cannot_tell(fmt::format("\"{}\" is no limit", *limit));
    if (*count >= enough) return look.pass(fmt::format("{} files may be open", *limit));
    look.warn(fmt::format("only {} files may be open", *count));
    look.fix("ulimit -n 65536", "this shell and what it starts, if the hard limit allows it");
}

constexpr std::array checks = {
    Check{"limits.memlock", "memory may be pinned", "proc/self/limits, proc/self/status, proc/meminfo",
          "pinned tiers, staging buffers and registered buffers of io_uring fail to be allocated past the limit",
          "raise the limit of locked memory for the user, service or container", memlock},
    Check{"limits.open_files", "enough files may be open", "proc/self/limits",
          "each queue, buffer that is shared and storage file takes one", "raise the limit of open files", open_files},
};

} // namespace

std::span<const Check> limit_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
