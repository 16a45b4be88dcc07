// SPDX-License-Identifier: Apache-2.0
// Who may write to one file or folder: owner, mode bits and POSIX ACL entries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "core/loader/trust.hpp"

namespace hbf::loader {

// Entries of a "system.posix_acl_access" attribute as the kernel stores it.
struct AclEntry {
    uint16_t tag, permissions;
    uint32_t id;
};
// False if the bytes are no such attribute.
bool parse_acl(std::span<const uint8_t> bytes, std::vector<AclEntry> &out);

bool is_root_or_user(uint32_t uid);

// A group that only root or only the user is in, as many systems give each user one.
bool is_private_group(uint32_t gid);

// `fd` may be an O_PATH descriptor. `path` is for the messages. Does not count root and the user themselves.
std::vector<Weakness> writers_of(int fd, const struct stat &facts, const std::string &path);

} // namespace hbf::loader
