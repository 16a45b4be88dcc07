// SPDX-License-Identifier: Apache-2.0
#include "directory.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_error.hpp"

namespace hbf::host {
namespace {

constexpr const char *lock_name = ".hbf.lock";
constexpr const char *temporary_prefix = ".hbf.tmp.";
constexpr const char *own_prefix = ".hbf.";

// Our files hold what a model was told: nobody else may put things there or take them away.
void check_owner(const std::string &path, const struct stat &info) {
    if (info.st_uid != ::geteuid())
        sdk::fail(HBF_PERMISSION, fmt::format("{} belongs to user {}, not to {}: use a directory of your own", path,
                                              info.st_uid, ::geteuid()));
    if (info.st_mode & S_IWOTH)
        sdk::fail(HBF_PERMISSION,
                  fmt::format("{} may be written by everyone: chmod o-w it, or use a directory below it", path));
    // A group of the same number as its user is that user's own, the way most systems set users up.
    const bool private_group = info.st_gid == info.st_uid && info.st_gid != 0;
    if ((info.st_mode & S_IWGRP) && !private_group)
        sdk::fail(HBF_PERMISSION, fmt::format("{} may be written by group {}: chmod g-w it", path, info.st_gid));
}

struct CloseDir {
    void operator()(DIR *stream) const { ::closedir(stream); }
};
using Listing = std::unique_ptr<DIR, CloseDir>;

Listing list(int directory) { // empty with errno where that fails
    int fd = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    Listing listing(::fdopendir(fd));
    if (!listing) ::close(fd);
    return listing;
}

std::string real_path(const std::string &path) {
    char resolved[PATH_MAX];
    return ::realpath(path.c_str(), resolved) ? resolved : path;
}

} // namespace

void check_region_name(const std::string &name) {
    auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed))
        sdk::fail(HBF_INVALID, fmt::format("region name \"{}\": 1 to 64 of A-Z a-z 0-9 . _ - are allowed", name));
    if (name == "." || name == ".." || name.starts_with(own_prefix))
        sdk::fail(HBF_INVALID, fmt::format("region name \"{}\" is the directory's own", name));
}

std::shared_ptr<Directory> Directory::open(const std::string &path) {
    // Instances of one process share the lock, which flock would refuse to a second open file of the same process.
    // The last of them gives it back under the same mutex: whoever comes then waits for the lock to be free again, and is
    // not told that this process itself is in the way.
    using Key = std::pair<dev_t, ino_t>;
    static auto &mutex = *new std::mutex; // these outlive every instance
    static auto &changed = *new std::condition_variable;
    static auto &opened = *new std::map<Key, std::weak_ptr<Directory>>;
    struct GiveBack {
        Key key;
        void operator()(Directory *directory) const noexcept {
            std::lock_guard guard(mutex);
            delete directory;
            opened.erase(key);
            changed.notify_all();
        }
    };

    Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!fd) {
        const int error = errno;
        if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
            sdk::fail(HBF_PERMISSION, fmt::format("{} is a symbolic link: name its target, {}", path, real_path(path)));
        if (error == ENOENT) sdk::fail(HBF_UNAVAILABLE, fmt::format("{} does not exist: make it with mkdir -m 700", path));
        if (error == ENOTDIR) sdk::fail(HBF_INVALID, fmt::format("{} is neither a directory nor a block device", path));
        fail_errno("cannot open", path, error);
    }
    if (::fstat(fd.get(), &info) != 0) fail_errno("cannot examine", path, errno);
    check_owner(path, info);

    const Key key{info.st_dev, info.st_ino};
    std::unique_lock guard(mutex);
    for (auto known = opened.find(key); known != opened.end(); known = opened.find(key)) {
        if (auto shared = known->second.lock()) return shared;
        changed.wait(guard);
    }
    std::unique_ptr<Directory> made(new Directory(path, std::move(fd)));
    made->lock();
    made->sweep();
    const auto entry = opened.emplace(key, std::weak_ptr<Directory>()).first;
    guard.unlock(); // should the next line fail, it calls GiveBack
    std::shared_ptr<Directory> shared(made.release(), GiveBack{key});
    guard.lock();
    entry->second = shared;
    changed.notify_all();
    return shared;
}

void Directory::lock() {
    lock_ = Fd(::openat(fd(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    const std::string label = path_ + "/" + lock_name;
    if (!lock_) fail_errno("cannot open", label, errno);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) fail_errno("cannot lock", label, errno);
        char text[32] = {};
        long holder = 0;
        ssize_t size = ::pread(lock_.get(), text, sizeof text - 1, 0);
        if (size > 0) std::from_chars(text, text + size, holder);
        sdk::fail(HBF_BUSY, fmt::format("{} is in use by {}", path_,
                                        holder > 0 ? fmt::format("process {}", holder) : std::string("another process")));
    }
    // For whoever is refused. Failing to say it costs only the number in their message.
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(lock_.get(), 0) == 0) [[maybe_unused]]
        ssize_t written = ::pwrite(lock_.get(), pid.data(), pid.size(), 0);
}

// Temporary names are left only by a process that was killed, and none is alive while we hold the lock.
void Directory::sweep() noexcept {
    Listing listing = list(fd());
    while (dirent *entry = listing ? ::readdir(listing.get()) : nullptr)
        if (std::string_view(entry->d_name).starts_with(temporary_prefix)) ::unlinkat(fd(), entry->d_name, 0);
}

Directory::Nameless Directory::create(int flags) {
    Nameless made;
    if (nameless_files) made.fd = Fd(::openat(fd(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
    if (!nameless_files || (!made.fd && (errno == EOPNOTSUPP || errno == EISDIR ||
                                         errno == ENOENT))) { // the ways of saying "no O_TMPFILE here"
        made.temporary = fmt::format("{}{}.{}", temporary_prefix, ::getpid(), next_temporary_.fetch_add(1));
        made.fd =
            Fd(::openat(fd(), made.temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC | flags, 0600));
        if (!made.fd) {
            const int error = errno;
            ::unlinkat(fd(), made.temporary.c_str(), 0); // O_DIRECT refused leaves the name behind
            errno = error;
        }
    }
    if (!made.fd) {
        if (errno == EINVAL && (flags & O_DIRECT)) return made; // the caller goes on without
        fail_errno("cannot make a file in", path_, errno);
    }
    if (::fchmod(made.fd.get(), 0600) != 0) { // the umask may have taken our own bits
        const int error = errno;
        discard(made);
        fail_errno("cannot set the mode of a file in", path_, error);
    }
    return made;
}

void Directory::discard(const Nameless &file) noexcept {
    if (!file.temporary.empty()) ::unlinkat(fd(), file.temporary.c_str(), 0);
}

Fd Directory::open_named(const std::string &name, int flags) {
    Fd file(::openat(fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags));
    const std::string label = path_ + "/" + name;
    if (!file) {
        if (errno == ENOENT) sdk::fail(HBF_UNAVAILABLE, fmt::format("there is no region {}", label));
        if (errno == EINVAL && (flags & O_DIRECT)) return file;
        if (errno == ELOOP) sdk::fail(HBF_PERMISSION, fmt::format("{} is a symbolic link", label));
        fail_errno("cannot open", label, errno);
    }
    struct stat info{};
    if (::fstat(file.get(), &info) != 0) fail_errno("cannot examine", label, errno);
    if (!S_ISREG(info.st_mode)) sdk::fail(HBF_INVALID, fmt::format("{} is not a file", label));
    if (info.st_uid != ::geteuid()) sdk::fail(HBF_PERMISSION, fmt::format("{} belongs to user {}", label, info.st_uid));
    return file;
}

bool Directory::has(const std::string &name) const {
    return ::faccessat(fd(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void Directory::give_name(Nameless &file, const std::string &name) {
    const std::string label = path_ + "/" + name;
    int failed;
    if (file.temporary.empty()) {
        const std::string self = fmt::format("/proc/self/fd/{}", file.fd.get());
        failed = ::linkat(AT_FDCWD, self.c_str(), fd(), name.c_str(), AT_SYMLINK_FOLLOW);
        if (failed && errno == ENOENT) failed = ::linkat(file.fd.get(), "", fd(), name.c_str(), AT_EMPTY_PATH); // no /proc
    } else {
        failed = ::renameat2(fd(), file.temporary.c_str(), fd(), name.c_str(), RENAME_NOREPLACE);
        if (failed && (errno == EINVAL || errno == ENOSYS)) // file systems that cannot rename so, link
            failed = ::linkat(fd(), file.temporary.c_str(), fd(), name.c_str(), 0);
    }
    if (failed) {
        if (errno == EEXIST) sdk::fail(HBF_INVALID, fmt::format("{} exists already; it was left as it is", label));
        fail_errno("cannot name", label, errno);
    }
    discard(file);
    file.temporary.clear();
}

int Directory::write_back() noexcept {
    return ::fsync(fd()) == 0 ? 0 : errno;
}

uint64_t Directory::named_bytes() const {
    uint64_t bytes = 0;
    Listing listing = list(fd());
    if (!listing) fail_errno("cannot list", path_, errno);
    while (dirent *entry = ::readdir(listing.get())) {
        struct stat info{};
        if (std::string_view(entry->d_name).starts_with(own_prefix)) continue;
        if (::fstatat(fd(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            bytes += static_cast<uint64_t>(info.st_size);
    }
    return bytes;
}

} // namespace hbf::host
