// SPDX-License-Identifier: Apache-2.0
// A directory that holds regions as files: whose it is, who may use it, and how files come into it whole or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fd.hpp"
#include "file.hpp"

namespace hbf::host {

class Directory {
public:
    // Locked for this process while any of its instances uses it, by flock, which the kernel drops with the process. Throws
    // sdk::Failure: UNAVAILABLE, INVALID, PERMISSION (a link, another owner, others may write), BUSY (naming the holder).
    static std::shared_ptr<Directory> open(const std::string &path);

    const std::string &path() const { return path_; }
    int fd() const { return fd_.get(); }

    // A file without a name, mode 0600 whatever the umask. Where the file system has no O_TMPFILE it has a temporary name,
    // which the next open of the directory sweeps away should we not come to it.
    struct Nameless {
        Fd fd;
        std::string temporary; // "" with O_TMPFILE
    };
    Nameless create(int flags);
    void discard(const Nameless &file) noexcept;

    Fd open_named(const std::string &name, int flags); // throws UNAVAILABLE if there is none
    bool has(const std::string &name) const;
    // Gives it its name. Throws INVALID if the name is taken: nothing is ever replaced.
    void give_name(Nameless &file, const std::string &name);
    int write_back() noexcept; // the names; errno

    uint64_t named_bytes() const; // held by files that have a name

    bool nameless_files = true; // false: go on as if there were no O_TMPFILE; before the first create

    // Regions of this process by name, so that all share one file object. [under names_mutex]
    std::mutex names_mutex;
    std::map<std::string, std::weak_ptr<File>> names;

private:
    Directory(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    void lock();
    void sweep() noexcept;

    std::string path_;
    Fd fd_, lock_;
    std::atomic<uint64_t> next_temporary_{0};
};

// Throws sdk::Failure INVALID unless [A-Za-z0-9._-]{1,64} and none of the directory's own.
void check_region_name(const std::string &name);

} // namespace hbf::host
