// SPDX-License-Identifier: Apache-2.0
// Who else could have written a file: the rule for everything that steers what is loaded.
#pragma once

#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace hbf {

// True for a user's private group: named like the user, the user's primary group, without other members.
bool is_private_group(gid_t group, uid_t user);

// "" if only `user` and root can change what `facts` describes (a private group of `user` counts as the user), else the
// reason: "owned by uid 1001, neither you (uid 1000) nor root", "writable by everyone (mode 0666)", ...
std::string changeable_by_others(const struct stat &facts, uid_t user);

} // namespace hbf
