// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache.hpp"

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
#include "core/loader/sha256.hpp"

namespace hbf::loader {
namespace {

constexpr size_t largest_file = 4 * 1024 * 1024, most_files = 256;
constexpr std::string_view suffix = ".json";

std::string file_name(const std::string &key) {
    return sha256_hex(key) + std::string(suffix);
}

bool is_mine_alone(int fd) {
    struct stat facts = {};
    return fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Opens a sub-folder, which must be the user's own; makes it if need be.
Fd enter(const Fd &parent, const char *name) {
    Fd folder(openat(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder && errno == ENOENT && mkdirat(parent.get(), name, 0700) == 0) {
        folder.reset(openat(parent.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    return folder;
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

// Where nameless files exist nothing is ever left behind: the file gets its name when it is complete.
bool write_nameless(int folder, const std::string &name, std::string_view text) {
    const Fd file(openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
    if (!file) return false;
    if (!write_all(file.get(), text)) return true; // full disk: no second try
    const std::string from = fmt::format("/proc/self/fd/{}", file.get());
    if (linkat(AT_FDCWD, from.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) return false;
    unlinkat(folder, name.c_str(), 0); // it was no hit, so it is broken
    linkat(AT_FDCWD, from.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW);
    return true;
}

// Elsewhere (some network file systems) a temporary name is used, with signals held off while it exists.
void write_and_rename(int folder, const std::string &name, std::string_view text) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const std::string temporary = fmt::format(".{}.{}", name, getpid());
    {
        const Fd file(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file && (!write_all(file.get(), text) || renameat(folder, temporary.c_str(), folder, name.c_str()) != 0)) {
            unlinkat(folder, temporary.c_str(), 0);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Old keys never come back (a new boot, a new driver), so the oldest files go once there are many.
void prune(int folder) {
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

ProbeCache ProbeCache::open(std::vector<std::string> &notes) {
    ProbeCache cache;
    if (process_is_privileged()) return cache;
    const auto xdg = environment("XDG_CACHE_HOME"), home = environment("HOME");
    const bool has_xdg = xdg && xdg->starts_with('/');
    if (!has_xdg && (!home || !home->starts_with('/'))) {
        notes.emplace_back("no probe cache: neither XDG_CACHE_HOME nor HOME is an absolute path");
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
            fmt::format("no probe cache: {} is {}", top_name, top ? "not this user's alone" : std::strerror(errno)));
        return cache;
    }
    Fd hbf = enter(top, "hbf");
    const bool is_others = hbf && !is_mine_alone(hbf.get());
    Fd folder = hbf && !is_others ? enter(hbf, "probe") : Fd();
    if (!folder || !is_mine_alone(folder.get())) {
        notes.push_back(fmt::format("no probe cache: {}/hbf/probe cannot be used ({})", top_name,
                                    folder || is_others ? "not this user's alone" : std::strerror(errno)));
        return cache;
    }
    cache.folder_ = std::move(folder);
    return cache;
}

std::optional<ProbeRecord> ProbeCache::find(const std::string &key) const {
    if (!folder_) return std::nullopt;
    const Fd file(openat(folder_.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts = {};
    if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || !is_mine_alone(file.get()))
        return std::nullopt;
    if (facts.st_size <= 0 || static_cast<size_t>(facts.st_size) > largest_file) return std::nullopt;
    std::string text(static_cast<size_t>(facts.st_size), '\0');
    const ssize_t count = pread(file.get(), text.data(), text.size(), 0);
    if (count != facts.st_size) return std::nullopt;
    auto record = decode_cached(key, text);
    return record && is_worth_keeping(*record) ? std::move(record) : std::nullopt;
}

void ProbeCache::store(const std::string &key, const ProbeRecord &record) const {
    if (!folder_ || !is_worth_keeping(record)) return;
    const std::string name = file_name(key), text = encode_cached(key, record);
    if (!write_nameless(folder_.get(), name, text)) write_and_rename(folder_.get(), name, text);
    prune(folder_.get());
}

bool ProbeCache::is_worth_keeping(const ProbeRecord &record) {
    // A warning tells of something passing (a folder in use, a limit): to be looked at again.
    if (!record.notes.empty()) return false;
    return record.reason == Reason::selected || record.reason == Reason::no_device || record.reason == Reason::driver_absent;
}

} // namespace hbf::loader
