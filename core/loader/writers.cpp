// SPDX-License-Identifier: Apache-2.0
#include "core/loader/writers.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace hbf::loader {
namespace {

constexpr uint32_t acl_version = 2;
constexpr uint16_t tag_user = 0x02, tag_group_object = 0x04, tag_group = 0x08, tag_mask = 0x10, may_write = 2;

std::string user_name(uint32_t uid) {
    const passwd *entry = getpwuid(uid);
    return entry ? fmt::format("user {} ({})", entry->pw_name, uid) : fmt::format("user {}", uid);
}

std::string group_name(uint32_t gid) {
    const group *entry = getgrgid(gid);
    return entry ? fmt::format("group {} ({})", entry->gr_name, gid) : fmt::format("group {}", gid);
}

bool has_only_member(const group &entry, const std::string &user) {
    for (char **member = entry.gr_mem; member && *member; ++member) {
        if (user != *member) return false;
    }
    return true;
}

// Does the local account file list another user whose primary group this is?
bool is_primary_group_of_another(uint32_t gid, uint32_t uid) {
    const std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen("/etc/passwd", "re"), std::fclose);
    while (const passwd *entry = file ? fgetpwent(file.get()) : nullptr) {
        if (entry->pw_gid == gid && entry->pw_uid != uid) return true;
    }
    return false;
}

bool is_private_group_of(uint32_t gid, uint32_t uid) {
    const passwd *account = getpwuid(uid);
    if (!account || account->pw_gid != gid) return false;
    const std::string name = account->pw_name;
    const group *entry = getgrgid(gid);
    return entry && name == entry->gr_name && has_only_member(*entry, name) && !is_primary_group_of_another(gid, uid);
}

// The attribute of what `fd` names: an O_PATH descriptor can only be asked through /proc.
ssize_t read_acl(int fd, std::vector<uint8_t> &out) {
    out.resize(4 + 8 * 1024);
    const std::string through = fmt::format("/proc/self/fd/{}", fd);
    const ssize_t size = getxattr(through.c_str(), "system.posix_acl_access", out.data(), out.size());
    if (size >= 0) out.resize(static_cast<size_t>(size));
    return size;
}

class Collector {
public:
    Collector(const std::string &path, mode_t mode) : path_(path), mode_(mode & 07777) {}

    void owner(uint32_t uid) {
        if (is_root_or_user(uid)) return;
        add(Writer::Kind::user, uid,
            fmt::format("owned by {}; remedy: chown it to root or to the user who runs this", user_name(uid)));
    }
    void everyone() {
        add(Writer::Kind::everyone, 0,
            fmt::format("writable by everyone (mode {:04o}); remedy: chmod o-w {}", mode_, path_));
    }
    void group_bits(uint32_t gid) {
        if (is_private_group(gid)) return;
        add(Writer::Kind::group, gid,
            fmt::format("writable by {} (mode {:04o}); remedy: chmod g-w {}", group_name(gid), mode_, path_));
    }
    void acl(const AclEntry &entry) {
        if (entry.tag == tag_user) {
            if (is_root_or_user(entry.id)) return;
            add(Writer::Kind::user, entry.id,
                fmt::format("an ACL entry lets {} write; remedy: setfacl -b {}", user_name(entry.id), path_));
        } else {
            if (is_private_group(entry.id)) return;
            add(Writer::Kind::group, entry.id,
                fmt::format("an ACL entry lets {} write; remedy: setfacl -b {}", group_name(entry.id), path_));
        }
    }
    void unknown(const std::string &why) { add(Writer::Kind::unknown, 0, why); }

    std::vector<Weakness> found;

private:
    void add(Writer::Kind kind, uint32_t id, const std::string &what) {
        found.push_back({{kind, id}, fmt::format("{}: {}", path_, what)});
    }
    const std::string &path_;
    mode_t mode_;
};

} // namespace

bool parse_acl(std::span<const uint8_t> bytes, std::vector<AclEntry> &out) {
    const auto number = [&](size_t at, size_t count) { // little-endian, whatever the host is
        uint32_t value = 0;
        for (size_t i = 0; i < count; ++i) value |= uint32_t{bytes[at + i]} << (8 * i);
        return value;
    };
    if (bytes.size() < 4 || (bytes.size() - 4) % 8 != 0 || number(0, 4) != acl_version) return false;
    for (size_t at = 4; at < bytes.size(); at += 8) {
        out.push_back({static_cast<uint16_t>(number(at, 2)), static_cast<uint16_t>(number(at + 2, 2)), number(at + 4, 4)});
    }
    return true;
}

bool is_root_or_user(uint32_t uid) {
    return uid == 0 || uid == geteuid();
}

bool is_private_group(uint32_t gid) {
    return is_private_group_of(gid, geteuid()) || is_private_group_of(gid, 0);
}

std::vector<Weakness> writers_of(int fd, const struct stat &facts, const std::string &path) {
    Collector collector(path, facts.st_mode);
    collector.owner(facts.st_uid);
    if (S_ISLNK(facts.st_mode)) return std::move(collector.found); // a link's own mode means nothing
    if (facts.st_mode & S_IWOTH) collector.everyone();

    std::vector<uint8_t> bytes;
    std::vector<AclEntry> entries;
    if (read_acl(fd, bytes) < 0) {
        const bool none = errno == ENODATA || errno == ENOTSUP || errno == ENOSYS;
        if (!none) collector.unknown(fmt::format("its ACL cannot be read ({})", std::strerror(errno)));
        if (facts.st_mode & S_IWGRP) collector.group_bits(facts.st_gid);
        return std::move(collector.found);
    }
    if (!parse_acl(bytes, entries)) {
        collector.unknown("its ACL has an unknown form");
        return std::move(collector.found);
    }
    uint16_t mask = 7;
    for (const AclEntry &entry : entries) {
        if (entry.tag == tag_mask) mask = entry.permissions;
    }
    for (const AclEntry &entry : entries) {
        if (!(entry.permissions & mask & may_write)) continue;
        if (entry.tag == tag_group_object) collector.group_bits(facts.st_gid);
        if (entry.tag == tag_user || entry.tag == tag_group) collector.acl(entry);
    }
    return std::move(collector.found);
}

} // namespace hbf::loader
