// SPDX-License-Identifier: Apache-2.0
#include "core/common/cache_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/common/environment.hpp"
#include "core/common/errno_error.hpp"

namespace hbf {
namespace {

bool is_mine_alone(int fd) {
    struct stat facts = {};
    return fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Opens a sub-folder, which must be the user's own; makes it if need be. Two that make it at once both get it.
Fd enter(const Fd &parent, const char *name) {
    const auto open_it = [&] { return Fd(openat(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); };
    Fd folder = open_it();
    if (!folder && errno == ENOENT && (mkdirat(parent.get(), name, 0700) == 0 || errno == EEXIST)) folder = open_it();
    return folder;
}

int write_all(int fd, std::string_view text) { // 0, or errno
    while (!text.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ENOSPC;
        text.remove_prefix(static_cast<size_t>(count));
    }
    return 0;
}

constexpr int not_here = -1;

// Where nameless files exist nothing is ever left behind: the file gets its name when it is complete. 0, errno or not_here.
int write_nameless(int folder, const std::string &name, std::string_view text) {
    const Fd file(openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
    if (!file) return not_here;
    if (const int error = write_all(file.get(), text)) return error; // full disk: no second try
    const std::string from = fmt::format("/proc/self/fd/{}", file.get());
    if (linkat(AT_FDCWD, from.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno != EEXIST) return not_here;
    // It was no hit, so it is broken.
    if (unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) return errno;
    if (linkat(AT_FDCWD, from.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
    return errno == EEXIST ? 0 : errno; // another one was quicker, with the same answer
}

// Elsewhere (some network file systems) a temporary name is used, with signals held off while it exists.
int write_and_rename(int folder, const std::string &name, std::string_view text) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const std::string temporary = fmt::format(".{}.{}", name, getpid());
    int error = 0;
    {
        const Fd file(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        error = file ? write_all(file.get(), text) : errno;
        if (file && error == 0 && renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
        if (file && error != 0) unlinkat(folder, temporary.c_str(), 0);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

void prune(int folder, size_t most_files) {
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return;
    const std::unique_ptr<DIR, int (*)(DIR *)> list(fdopendir(copy), closedir);
    std::vector<std::pair<int64_t, std::string>> files;
    while (const dirent *entry = list ? readdir(list.get()) : nullptr) {
        struct stat facts = {};
        const std::string name = entry->d_name;
        if (name == "." || name == ".." || fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        files.emplace_back(facts.st_mtim.tv_sec, name);
    }
    if (files.size() <= most_files) return;
    std::sort(files.begin(), files.end());
    for (size_t i = 0; i < files.size() - most_files; ++i) unlinkat(folder, files[i].second.c_str(), 0);
}

} // namespace

CacheFolder CacheFolder::open(const std::string &name, std::vector<std::string> &notes) {
    CacheFolder cache;
    if (process_is_privileged()) return cache;
    const auto xdg = environment("XDG_CACHE_HOME"), home = environment("HOME");
    const bool has_xdg = xdg && xdg->starts_with('/');
    if (!has_xdg && (!home || !home->starts_with('/'))) {
        notes.push_back(fmt::format("no {} cache: neither XDG_CACHE_HOME nor HOME is an absolute path", name));
        return cache;
    }
    const std::string top_name = has_xdg ? *xdg : *home + "/.cache";
    Fd top(::open(top_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!top && errno == ENOENT) {
        // Made only where its parent is the user's own: root with another's HOME leaves nothing there.
        const std::string parent = top_name.substr(0, std::max<size_t>(top_name.rfind('/'), 1));
        const Fd above(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (above && is_mine_alone(above.get())) mkdir(top_name.c_str(), 0700);
        top.reset(::open(top_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    if (!top || !is_mine_alone(top.get())) {
        notes.push_back(
            fmt::format("no {} cache: {} is {}", name, top_name, top ? "not this user's alone" : std::strerror(errno)));
        return cache;
    }
    Fd hbf = enter(top, "hbf");
    const bool is_others = hbf && !is_mine_alone(hbf.get());
    Fd folder = hbf && !is_others ? enter(hbf, name.c_str()) : Fd();
    if (!folder || !is_mine_alone(folder.get())) {
        notes.push_back(fmt::format("no {0} cache: {1}/hbf/{0} cannot be used ({2})", name, top_name,
                                    folder || is_others ? "not this user's alone" : std::strerror(errno)));
        return cache;
    }
    cache.folder_ = std::move(folder);
    return cache;
}

Result<std::string> CacheFolder::read(const std::string &name, size_t largest) const {
    if (!folder_) return fail(Code::unavailable, "the cache is off");
    const Fd file(openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return errno_error(name, errno);
    struct stat facts = {};
    if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || !is_mine_alone(file.get()))
        return fail(Code::invalid, name + ": not a file of this user's alone");
    if (facts.st_size <= 0 || static_cast<size_t>(facts.st_size) > largest)
        return fail(Code::invalid,
                    fmt::format("{}: has {} bytes, where 1 to {} are expected", name, facts.st_size, largest));
    std::string text(static_cast<size_t>(facts.st_size), '\0');
    if (pread(file.get(), text.data(), text.size(), 0) != facts.st_size)
        return fail(Code::invalid, name + ": cannot be read to its end");
    return text;
}

Result<> CacheFolder::write(const std::string &name, std::string_view text, size_t most_files) const {
    if (!folder_) return fail(Code::unavailable, "the cache is off");
    int error = write_nameless(folder_.get(), name, text);
    if (error == not_here) error = write_and_rename(folder_.get(), name, text);
    if (error != 0) return errno_error(name, error);
    prune(folder_.get(), most_files);
    return {};
}

} // namespace hbf
