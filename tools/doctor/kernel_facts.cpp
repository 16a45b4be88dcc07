// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/kernel_facts.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/common/version_range.hpp"
#include "core/host/parse.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string status_file = "proc/self/status";

bool is_version(std::string_view text) {
    const size_t numbers = text.find_first_not_of("0123456789.");
    const std::string_view version = text.substr(0, numbers);
    return version.size() >= 3 && version.front() != '.' && version.find('.') != std::string_view::npos &&
           !parse_version(version).empty() && version.size() < 24;
}

// A parameter's name; a lone digit or "single" is a run level; after "--" anything goes to the first program.
bool is_parameter(std::string_view word) {
    const char c = word.front();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return true;
    return word.size() == 1 && c >= '0' && c <= '6';
}

// Names that firmware gives to virtual machines.
constexpr std::string_view virtual_makers[] = {"QEMU",      "VMware",    "Amazon EC2",   "Google",
                                               "Xen",       "Parallels", "innotek GmbH", "Microsoft Corporation",
                                               "OpenStack", "KubeVirt"};

} // namespace

std::optional<std::string> kernel_version(Look &look) {
    // "Ubuntu 6.8.0-111.111-generic 6.8.12"
    if (const auto signature = look.text("proc/version_signature")) {
        const auto words = host::words(*signature);
        if (words.size() == 3 && is_version(words[2])) return std::string(words[2]);
        look.garbled("proc/version_signature", "a distribution, its kernel's version and the version that is made from");
        return std::nullopt;
    }
    const std::string release_file = "proc/sys/kernel/osrelease";
    auto release = look.need_text(release_file);
    const auto version = look.need_text("proc/version");
    if (!release || !version) return std::nullopt;
    if (!is_version(*release)) return look.garbled(release_file, "a version like 6.1.0-18-amd64"), std::nullopt;
    if (version->find(*release) == std::string::npos)
        return look.garbled("proc/version", "a text with the version " + *release), std::nullopt;
    // "Linux version 6.1.0-15-amd64 (...) #1 SMP PREEMPT_DYNAMIC Debian 6.1.66-1 (2023-12-09)"
    const auto words = host::words(*version);
    for (size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] == "Debian" && is_version(words[i + 1])) return std::string(words[i + 1]);
    return release;
}

std::optional<std::vector<std::string>> kernel_parameters(Look &look) {
    const std::string path = "proc/cmdline";
    const auto text = look.need_text(path);
    if (!text) return std::nullopt;
    std::vector<std::string> out;
    for (const std::string_view word : host::words(*text)) {
        if (word == "--") break;
        if (!is_parameter(word)) return look.garbled(path, "parameters of the kernel"), std::nullopt;
        out.emplace_back(word);
    }
    constexpr size_t longest = 4096; // no kernel keeps more
    if (out.empty() || text->size() > longest) return look.garbled(path, "parameters of the kernel"), std::nullopt;
    return out;
}

std::optional<std::string> line_after(Look &look, const std::string &path, std::string_view name) {
    const auto text = look.need_text(path, Look::Form::text, Look::Show::no);
    if (!text) return std::nullopt;
    for (const std::string_view line : host::lines(*text)) {
        if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
        std::string value(host::trimmed(line.substr(name.size() + 1)));
        look.seen(fmt::format("{} ({})", look.full(path), name), value);
        return value;
    }
    look.cannot_tell(fmt::format("{}: no line \"{}:\" in it", look.full(path), name));
    return std::nullopt;
}

std::optional<bool> is_root(Look &look) {
    const auto line = line_after(look, status_file, "Uid"); // real, effective, saved, file system
    if (!line) return std::nullopt;
    const auto words = host::words(*line);
    const auto user = words.size() == 4 ? host::parse_unsigned(words[1]) : std::nullopt;
    if (!user) return look.cannot_tell(look.full(status_file) + ": its line \"Uid:\" has no four numbers"), std::nullopt;
    return *user == 0;
}

std::optional<bool> has_capability(Look &look, unsigned number) {
    const auto line = line_after(look, status_file, "CapEff");
    if (!line) return std::nullopt;
    const auto set = host::parse_unsigned("0x" + *line);
    if (!set) return look.cannot_tell(look.full(status_file) + ": its line \"CapEff:\" has no number"), std::nullopt;
    return *set >> number & 1;
}

std::optional<std::map<std::string, std::string>> process_environment(Look &look) {
    const std::string path = "proc/self/environ";
    const auto text = look.need_text(path, Look::Form::list, Look::Show::no); // it may hold secrets: no evidence
    if (!text) return std::nullopt;
    std::map<std::string, std::string> out;
    for (const std::string_view line : host::lines(*text)) {
        const size_t at = line.find('=');
        // The rest of a value of several lines, or garbage, has no name.
        if (at == 0 || at == std::string_view::npos) {
            if (out.empty()) return look.cannot_tell(look.full(path) + ": no variables"), std::nullopt;
            continue;
        }
        out.emplace(line.substr(0, at), line.substr(at + 1));
    }
    return out;
}

std::optional<bool> is_virtual(Look &look) {
    const std::string path = "proc/cpuinfo";
    const auto text = look.need_text(path, Look::Form::head, Look::Show::no);
    if (!text) return std::nullopt;
    if (const auto type = look.text("sys/hypervisor/type"); type && !type->empty() && *type != "none") return true;
    const auto maker = look.text("sys/class/dmi/id/sys_vendor");
    for (const std::string_view line : host::lines(*text)) {
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos || host::trimmed(line.substr(0, colon)) != "flags") continue;
        const auto flags = host::words(line.substr(colon + 1));
        const bool flagged = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
        look.seen(look.full(path), flagged ? "flags: hypervisor" : "flags: without hypervisor");
        return flagged;
    }
    // Other processors have no such flag; their firmware names its maker.
    if (look.exists("proc/device-tree/hypervisor")) return true;
    const bool known = maker && std::any_of(std::begin(virtual_makers), std::end(virtual_makers),
                                            [&](std::string_view one) { return maker->starts_with(one); });
    if (known) return true;
    if (text->find("CPU implementer") == std::string::npos)
        look.cannot_tell(look.full(path) + ": neither flags nor an implementer in it");
    else if (!maker)
        look.cannot_tell("this processor has no flag for virtual machines, and firmware names no maker");
    else
        return false;
    return std::nullopt;
}

std::optional<KernelLog> kernel_log(Look &look) {
    const std::string path = "dev/kmsg";
    const auto text = look.need_text(path, Look::Form::log, Look::Show::no);
    if (!text) {
        look.root_only();
        return std::nullopt;
    }
    KernelLog out;
    std::optional<uint64_t> first;
    for (const std::string_view line : host::lines(*text)) {
        if (line.starts_with(' ')) continue; // "6,339,5140900,-;text", then lines " KEY=value"
        const size_t comma = line.find(','), second = line.find(',', comma + 1), end = line.find(';');
        const auto number =
            comma == std::string_view::npos || second == std::string_view::npos || end == std::string_view::npos
                ? std::nullopt
                : host::parse_unsigned(line.substr(comma + 1, second - comma - 1));
        if (!number) return look.cannot_tell(look.full(path) + ": no records of a kernel's log"), std::nullopt;
        if (!first) first = number;
        out.lines.emplace_back(line.substr(end + 1));
    }
    if (!first) return look.cannot_tell(look.full(path) + ": no record in it"), std::nullopt;
    out.whole = *first == 0;
    look.seen(look.full(path), fmt::format("{} records, the first is number {}", out.lines.size(), *first));
    return out;
}

} // namespace hbf::tools::doctor
