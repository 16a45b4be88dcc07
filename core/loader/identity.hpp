// SPDX-License-Identifier: Apache-2.0
// Which file, in which state: tells whether the file that is opened is still the one that was examined.
#pragma once

#include <cstdint>

#include <sys/stat.h>

namespace hbf::loader {

struct FileIdentity {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t modified_ns = 0, changed_ns = 0; // changed: the kernel's own stamp, which no user can set back

    bool operator==(const FileIdentity &) const = default;

    static FileIdentity of(const struct stat &facts) {
        const auto nanoseconds = [](const timespec &time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
        return {facts.st_dev, facts.st_ino, static_cast<uint64_t>(facts.st_size), nanoseconds(facts.st_mtim),
                nanoseconds(facts.st_ctim)};
    }
};

} // namespace hbf::loader
