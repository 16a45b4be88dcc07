// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/common/errno_error.hpp"
#include "core/common/list_folder.hpp"
#include "core/engine/cold/pages.hpp"
#include "core/engine/identity/identity.hpp"

namespace hbf::kv::cold {
namespace {

constexpr const char *log_name = "log";
constexpr off_t writer_byte = 0, reader_byte = 1;

// Locks of the open file, not of the process: two engines in one process keep each other out as well.
int set_lock(int fd, short type, off_t byte) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

Result<> only_mine(int fd, const std::string &label, mode_t forbidden) {
    struct stat facts = {};
    if (fstat(fd, &facts) != 0) return errno_error(label, errno);
    if (facts.st_uid != geteuid())
        return fail(Code::permission,
                    fmt::format("{}: belongs to uid {}, not to you (uid {})", label, facts.st_uid, geteuid()));
    if ((facts.st_mode & forbidden) != 0)
        return fail(Code::permission, fmt::format("{}: has mode {:04o}; others could read or change what is kept there; "
                                                  "remedy: chmod go-rwx",
                                                  label, facts.st_mode & 07777));
    return {};
}

Result<> new_id(LogId &id) {
    if (getrandom(id.data(), id.size(), 0) == static_cast<ssize_t>(id.size())) return {};
    return fail(Code::internal, fmt::format("no random number to be had: {}", std::strerror(errno)));
}

std::string label_of(const Superblock &superblock) {
    const auto end = std::find(superblock.label.begin(), superblock.label.end(), '\0');
    std::string label(superblock.label.begin(), end);
    for (char &c : label)
        if (c < ' ' || c > '~') c = '?';
    return label.empty() ? "" : fmt::format(" ({})", label);
}

std::string brief(const Identity &identity) {
    return to_hex(identity).substr(0, 12);
}

} // namespace

Result<Folder> Folder::open(const std::filesystem::path &path, const Wanted &wanted, Role role, const Calls &calls) {
    Folder folder;
    folder.path_ = path;
    const bool writer = role == Role::writer;
    if (writer && mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error(path, errno);
    folder.folder_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.folder_) return errno_error(path, errno);
    if (auto mine = only_mine(folder.folder_.get(), path.string(), S_IWGRP | S_IWOTH); !mine)
        return tl::unexpected(mine.error());
    for (int tries = 0; !folder.log_; ++tries) {
        auto log = folder.open_file(log_name, writer ? O_RDWR : O_RDONLY);
        if (log) {
            folder.log_ = std::move(*log);
        } else if (log.error().code != Code::unavailable || !writer || tries > 3) {
            return tl::unexpected(log.error());
        } else if (auto made = folder.make_log(wanted, calls); !made) {
            return tl::unexpected(made.error());
        }
    }
    if (auto locked = folder.lock(role); !locked) return tl::unexpected(locked.error());
    if (auto checked = folder.check(wanted, calls); !checked) return tl::unexpected(checked.error());
    if (writer) {
        folder.words_->writer_pid.store(static_cast<uint64_t>(getpid()), std::memory_order_relaxed);
        folder.sweep();
    }
    return folder;
}

Result<> Folder::make_log(const Wanted &wanted, const Calls &calls) {
    Superblock block;
    if (auto id = new_id(block.log); !id) return id;
    block.granule = granule_size;
    block.segment_bytes = wanted.segment_bytes;
    block.model = wanted.owner.model;
    block.layout = wanted.owner.layout;
    block.tenant = wanted.owner.tenant;
    wanted.owner.label.copy(block.label.data(), block.label.size() - 1);
    seal(block);
    // Under a name of its own until it is whole; who made one at the same time has an equal one.
    const std::string temporary = fmt::format(".log.{}", getpid());
    unlinkat(folder_.get(), temporary.c_str(), 0);
    Fd file(openat(folder_.get(), temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return errno_error(label(log_name), errno);
    Result<> done;
    if (const int error = calls.allocate(file.get(), log_file_size))
        done = fail(code_of_io(error), fmt::format("{}: no room for it: {}", label(log_name), std::strerror(error)));
    if (done) done = write_at(calls, file.get(), &block, sizeof block, 0, label(log_name));
    if (done) done = sync_file(calls, file.get(), label(log_name));
    if (done && linkat(folder_.get(), temporary.c_str(), folder_.get(), log_name, 0) != 0 && errno != EEXIST &&
        errno != ENOENT) // swept away by a writer that was quicker
        done = errno_error(label(log_name), errno);
    unlinkat(folder_.get(), temporary.c_str(), 0);
    if (done && fsync(folder_.get()) != 0) done = errno_error(path_, errno);
    return done;
}

Result<> Folder::lock(Role role) {
    const bool writer = role == Role::writer;
    const int error = set_lock(log_.get(), writer ? F_WRLCK : F_RDLCK, writer ? writer_byte : reader_byte);
    words_ = SharedMap(log_.get(), writer);
    if (!words_) return errno_error(label(log_name), errno);
    if (error == 0) return {};
    if (error != EAGAIN && error != EACCES) return errno_error(label(log_name), error);
    if (!writer) return fail(Code::busy, fmt::format("{}: is being wiped; try again", path_.string()));
    return fail(Code::busy, fmt::format("{}: process {} writes this log, and only one can; remedy: read it (View), or give "
                                        "this engine a folder of its own",
                                        path_.string(), words_->writer_pid.load(std::memory_order_relaxed)));
}

Result<> Folder::check(const Wanted &wanted, const Calls &calls) {
    if (auto got = read_at(calls, log_.get(), &superblock_, sizeof superblock_, 0, label(log_name)); !got) return got;
    struct stat facts = {};
    if (fstat(log_.get(), &facts) != 0) return errno_error(label(log_name), errno);
    Superblock made;
    seal(made);
    if (superblock_.magic == made.magic && superblock_.version != made.version)
        return fail(Code::invalid, fmt::format("{}: is of format {}, this library reads {}; remedy: another folder",
                                               path_.string(), superblock_.version, format_version));
    if (!is_sound(superblock_) || facts.st_size < static_cast<off_t>(log_file_size))
        return fail(Code::data_loss, fmt::format("{}: is damaged, so that nobody can tell whose bytes this folder holds; "
                                                 "remedy: remove the folder",
                                                 label(log_name)));
    const Owner &owner = wanted.owner;
    const auto refuse = [&](const char *what, const std::string &has, const std::string &asked) {
        return fail(Code::invalid, fmt::format("{}: holds {} {}{}, asked for is {}; remedy: another folder", path_.string(),
                                               what, has, label_of(superblock_), asked));
    };
    if (superblock_.model != owner.model) return refuse("KV of model", brief(superblock_.model), brief(owner.model));
    if (superblock_.layout != owner.layout) return refuse("KV of layout", brief(superblock_.layout), brief(owner.layout));
    if (superblock_.granule != granule_size)
        return refuse("granules of", std::to_string(superblock_.granule), std::to_string(granule_size));
    if (wanted.segment_bytes != 0 && !wanted.any_segment_bytes && superblock_.segment_bytes != wanted.segment_bytes)
        return refuse("segments of", std::to_string(superblock_.segment_bytes), std::to_string(wanted.segment_bytes));
    if (superblock_.tenant != owner.tenant && !wanted.any_tenant)
        return fail(Code::invalid, fmt::format("{}: holds KV of another tenant{}; remedy: another folder, or have it wiped",
                                               path_.string(), label_of(superblock_)));
    return {};
}

bool Folder::has_writer() const {
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = writer_byte;
    lock.l_len = 1;
    return fcntl(log_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK; // cannot tell: assume one
}

void Folder::end_writing() {
    words_->writer_pid.store(0, std::memory_order_relaxed);
    set_lock(log_.get(), F_UNLCK, writer_byte);
}

Result<> Folder::begin_alone() {
    const int error = set_lock(log_.get(), F_WRLCK, reader_byte);
    if (error == 0) return {};
    if (error != EAGAIN && error != EACCES) return errno_error(label(log_name), error);
    return fail(Code::busy,
                fmt::format("{}: is being read by others; it can be wiped when they have closed it", path_.string()));
}

void Folder::end_alone() {
    set_lock(log_.get(), F_UNLCK, reader_byte);
}

Result<> Folder::hand_to(const Identity &tenant, const Calls &calls) {
    Superblock block = superblock_;
    if (auto id = new_id(block.log); !id) return id;
    block.tenant = tenant;
    seal(block);
    if (auto done = write_at(calls, log_.get(), &block, sizeof block, 0, label(log_name)); !done) return done;
    if (auto done = sync_file(calls, log_.get(), label(log_name)); !done) return done;
    superblock_ = block;
    return {};
}

Result<Fd> Folder::open_file(const std::string &name, int flags) const {
    Fd file(openat(folder_.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return errno_error(label(name), errno);
    struct stat facts = {};
    if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return fail(Code::invalid, fmt::format("{}: is no regular file", label(name)));
    if (auto mine = only_mine(file.get(), label(name), S_IRWXG | S_IRWXO); !mine) return tl::unexpected(mine.error());
    return file;
}

Result<Fd> Folder::make_file(const std::string &name, uint64_t size, int flags, const Calls &calls) const {
    const std::string temporary = "." + name;
    unlinkat(folder_.get(), temporary.c_str(), 0);
    Fd file(openat(folder_.get(), temporary.c_str(), flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return errno_error(label(name), errno);
    int error = calls.allocate(file.get(), size);
    if (error == 0 && fsync(file.get()) != 0) error = errno;
    if (error == 0 && renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0) error = errno;
    if (error == 0 && fsync(folder_.get()) != 0) error = errno;
    if (error == 0) return file;
    unlinkat(folder_.get(), temporary.c_str(), 0);
    return fail(code_of_io(error), fmt::format("{}: no room for {} bytes: {}", label(name), size, std::strerror(error)));
}

Result<> Folder::remove_file(const std::string &name) const {
    if (unlinkat(folder_.get(), name.c_str(), 0) != 0) return errno_error(label(name), errno);
    return {};
}

Result<std::vector<std::string>> Folder::names() const {
    return list_folder(path_, 4 * most_segments);
}

void Folder::sweep() const {
    const auto found = names();
    if (!found) return; // opening the segments will say why
    for (const std::string &name : *found)
        if (name.starts_with(".segment-") || name.starts_with(".log.")) unlinkat(folder_.get(), name.c_str(), 0);
}

} // namespace hbf::kv::cold
