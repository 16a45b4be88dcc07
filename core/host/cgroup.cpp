// SPDX-License-Identifier: Apache-2.0
// The memory limits of this process's control group: the tightest one on the way up holds.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/host/memory_room.hpp"
#include "core/host/parse.hpp"
#include "core/host/sections.hpp"

namespace hbf::host {
namespace {

struct Group {
    std::filesystem::path mount, path; // below the root; below the mount
    bool version1 = false;

    const char *max() const { return version1 ? "memory.limit_in_bytes" : "memory.max"; }
    const char *high() const { return version1 ? "memory.soft_limit_in_bytes" : "memory.high"; }
    const char *current() const { return version1 ? "memory.usage_in_bytes" : "memory.current"; }

    // This group's folder and those above it, up to the mount.
    std::vector<std::filesystem::path> way_up() const {
        std::vector<std::filesystem::path> folders;
        for (std::filesystem::path at = path; !at.empty(); at = at.parent_path()) folders.push_back(mount / at);
        folders.push_back(mount);
        return folders;
    }
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
        while (path.starts_with('/')) path.remove_prefix(1);
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

constexpr uint64_t no_limit = UINT64_MAX;
constexpr uint64_t no_limit_v1 = 0x7ffffffffffff000 / 2; // version 1 writes "none" as the largest multiple of a page

struct Limit {
    uint64_t bytes = no_limit;
    std::string error; // it is there, but what it says is not known
};

Limit limit_in(Reader &reader, const std::filesystem::path &file, bool version1) {
    const auto text = reader.text(file);
    if (!text) { // the topmost group has no such file
        return reader.exists(file) ? Limit{0, fmt::format("{}: cannot be read", reader.full(file).string())} : Limit{};
    }
    if (*text == "max") return {};
    const auto value = parse_unsigned(*text);
    if (!value) {
        reader.problem(file, fmt::format("expected bytes or \"max\", found \"{}\"", text->substr(0, 40)));
        return {0, fmt::format("{}: expected bytes or \"max\"", reader.full(file).string())};
    }
    return {version1 && *value >= no_limit_v1 ? no_limit : *value, {}};
}

Setting tightest(Reader &reader, const Group &group, const char *file) {
    Setting out;
    out.source = reader.full(group.mount / group.path / file).string();
    uint64_t least = no_limit;
    for (const auto &folder : group.way_up()) {
        const Limit limit = limit_in(reader, folder / file, group.version1);
        if (!limit.error.empty()) {
            out.error = limit.error;
            return out;
        }
        if (limit.bytes >= least) continue;
        least = limit.bytes;
        out.source = reader.full(folder / file).string();
    }
    out.value = least == no_limit ? "max" : std::to_string(least);
    return out;
}

// Page cache that the kernel drops before it kills: counted as usage, but not in the way.
uint64_t droppable(Reader &reader, const std::filesystem::path &folder, bool version1) {
    const auto text = reader.text(folder / "memory.stat");
    const std::string_view name = version1 ? "total_inactive_file" : "inactive_file";
    for (const std::string_view line : text ? lines(*text) : std::vector<std::string_view>()) {
        const auto parts = words(line);
        if (parts.size() == 2 && parts[0] == name) return parse_unsigned(parts[1]).value_or(0);
    }
    return 0;
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
    out.settings["cgroup_memory_max"] = tightest(reader, *group, group->max());
    out.settings["cgroup_memory_high"] = tightest(reader, *group, group->high());
    out.settings["cgroup_memory_current"] = reader.setting(group->mount / group->path / group->current());
}

void limit_by_cgroup(Reader &reader, MemoryRoom &room) {
    const auto group = own_group(reader);
    if (!group) return;
    for (const auto &folder : group->way_up()) {
        const Limit limit = limit_in(reader, folder / group->max(), group->version1);
        if (limit.bytes == no_limit) continue;
        const uint64_t used = reader.number(folder / group->current()).value_or(limit.bytes);
        const uint64_t in_the_way = used - std::min(used, droppable(reader, folder, group->version1));
        room.limit(limit.bytes - std::min(limit.bytes, in_the_way),
                   fmt::format("control group {}", reader.full(folder / group->max()).string()));
    }
}

} // namespace hbf::host
