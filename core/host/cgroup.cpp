// SPDX-License-Identifier: Apache-2.0
// The memory limits of this process's control group: the tightest one on the way up holds.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

struct Group {
    std::filesystem::path mount, path; // below the root; below the mount
    bool version1 = false;
};

// "0::/user.slice/x" is version 2; "4:memory:/x" version 1, which holds where both are there.
std::optional<Group> own_group(Reader &reader) {
    const auto text = reader.text("proc/self/cgroup");
    if (!text) return std::nullopt;
    std::optional<Group> found;
    for (const std::string_view line : lines(*text)) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        std::string_view path = line.substr(second + 1);
        if (!path.starts_with('/') || path.find("..") != std::string_view::npos) continue;
        path.remove_prefix(1);
        const std::string list = fmt::format(",{},", controllers);
        if (list.find(",memory,") != std::string::npos) {
            found = Group{"sys/fs/cgroup/memory", path, true};
            break;
        }
        if (controllers.empty()) found = Group{"sys/fs/cgroup", path, false};
    }
    // Inside a container the path is often the host's, while the mount shows the container's own group as its root.
    if (found && !reader.exists(found->mount / found->path)) found->path.clear();
    if (found && !reader.exists(found->mount)) found.reset();
    return found;
}

constexpr uint64_t no_limit_v1 = 0x7ffffffffffff000 / 2; // version 1 writes "none" as the largest multiple of a page

Setting tightest(Reader &reader, const Group &group, const char *file) {
    Setting out;
    out.source = reader.full(group.mount / group.path / file).string();
    uint64_t least = UINT64_MAX;
    for (std::filesystem::path path = group.path;; path = path.parent_path()) {
        const auto here = group.mount / path / file;
        if (const auto text = reader.text(here)) { // the topmost group has no such file
            const auto value = parse_unsigned(*text);
            if (!value && *text != "max") {
                out.error = fmt::format("{}: expected bytes or \"max\", found \"{}\"", reader.full(here).string(),
                                        text->substr(0, 40));
                reader.problem(here, "expected bytes or \"max\"");
                return out;
            }
            if (value && *value < least && !(group.version1 && *value >= no_limit_v1)) {
                least = *value;
                out.source = reader.full(here).string();
            }
        } else if (reader.exists(here)) {
            out.error = fmt::format("{}: cannot be read", reader.full(here).string());
            return out;
        }
        if (path.empty() || path == path.parent_path()) break;
    }
    out.value = least == UINT64_MAX ? "max" : std::to_string(least);
    return out;
}

} // namespace

void read_cgroup(Reader &reader, Inventory &out) {
    const auto group = own_group(reader);
    if (!group) {
        Setting none;
        none.source = reader.full("proc/self/cgroup").string();
        none.error = none.source + ": names no control group whose files are there";
        for (const char *key : {"cgroup_memory_max", "cgroup_memory_high", "cgroup_memory_current"})
            out.settings[key] = none;
        return;
    }
    out.settings["cgroup_memory_max"] = tightest(reader, *group, group->version1 ? "memory.limit_in_bytes" : "memory.max");
    out.settings["cgroup_memory_high"] =
        tightest(reader, *group, group->version1 ? "memory.soft_limit_in_bytes" : "memory.high");
    out.settings["cgroup_memory_current"] =
        reader.setting(group->mount / group->path / (group->version1 ? "memory.usage_in_bytes" : "memory.current"));
}

} // namespace hbf::host
