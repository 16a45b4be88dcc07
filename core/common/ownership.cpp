// SPDX-License-Identifier: Apache-2.0
#include "core/common/ownership.hpp"

#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

namespace hbf {

bool is_private_group(gid_t group, uid_t user) {
    std::vector<char> user_buffer(16384), group_buffer(65536);
    passwd user_entry = {}, *user_found = nullptr;
    ::group group_entry = {}, *group_found = nullptr;
    if (getpwuid_r(user, &user_entry, user_buffer.data(), user_buffer.size(), &user_found) != 0 || !user_found) return false;
    if (getgrgid_r(group, &group_entry, group_buffer.data(), group_buffer.size(), &group_found) != 0 || !group_found)
        return false;
    const std::string name = user_entry.pw_name;
    if (user_entry.pw_gid != group || name != group_entry.gr_name) return false;
    for (char **member = group_entry.gr_mem; member && *member; ++member) {
        if (name != *member) return false;
    }
    return true;
}

std::string changeable_by_others(const struct stat &facts, uid_t user) {
    if (facts.st_uid != 0 && facts.st_uid != user) {
        return fmt::format("owned by uid {}, neither you (uid {}) nor root", facts.st_uid, user);
    }
    const unsigned mode = facts.st_mode & 07777u;
    if (mode & S_IWOTH) return fmt::format("writable by everyone (mode {:04o})", mode);
    // Root's group is root: it grants nothing that root has not.
    const bool harmless = (facts.st_gid == 0 && facts.st_uid == 0) || is_private_group(facts.st_gid, user);
    if ((mode & S_IWGRP) && !harmless) return fmt::format("writable by group {} (mode {:04o})", facts.st_gid, mode);
    return {};
}

} // namespace hbf
