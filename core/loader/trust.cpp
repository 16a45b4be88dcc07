// SPDX-License-Identifier: Apache-2.0
#include "core/loader/trust.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/loader/writers.hpp"

namespace hbf::loader {
namespace {

constexpr int most_links = 40; // as the kernel allows
constexpr size_t most_steps = 4096;

tl::unexpected<Error> refuse(const std::string &path, int error) {
    const Code code = error == EACCES || error == EPERM     ? Code::permission
                      : error == ENOENT || error == ENOTDIR ? Code::unavailable
                                                            : Code::invalid;
    return fail(code, fmt::format("{}: {}", path, std::strerror(error)));
}

// One walk: the folders passed so far, deepest last, and the names still to go.
class Walker {
public:
    enum class Goal { file, folder };
    explicit Walker(Goal goal) : goal_(goal) {}
    Result<Walk> run(const std::filesystem::path &path);

private:
    struct Folder {
        Fd fd;
        std::string path;
        struct stat facts;
    };

    Result<> enter(Fd fd, std::string path);
    Result<> step(const std::string &name);
    Result<> follow(const Fd &link, const std::string &path);
    void judge_folder(const Folder &folder, const struct stat &child, bool holds_the_file);
    void add(std::vector<Weakness> found);
    void queue(const std::string &path);
    Result<> finish(const std::string &name, const std::string &path, const struct stat &facts);

    const Goal goal_;
    std::vector<Folder> folders_;
    std::deque<std::string> names_;
    int links_ = 0;
    Walk walk_;
};

std::string join(const std::string &folder, const std::string &name) {
    return folder == "/" ? "/" + name : folder + "/" + name;
}

void Walker::add(std::vector<Weakness> found) {
    for (Weakness &weakness : found) {
        const auto same = [&](const Weakness &other) { return other.detail == weakness.detail; };
        if (std::none_of(walk_.weaknesses.begin(), walk_.weaknesses.end(), same))
            walk_.weaknesses.push_back(std::move(weakness));
    }
}

void Walker::queue(const std::string &path) {
    std::vector<std::string> names;
    for (size_t at = 0; at < path.size();) {
        const size_t end = std::min(path.find('/', at), path.size());
        if (end > at) names.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    names_.insert(names_.begin(), names.begin(), names.end());
}

Result<> Walker::enter(Fd fd, std::string path) {
    struct stat facts = {};
    if (fstat(fd.get(), &facts) != 0) return refuse(path, errno);
    folders_.push_back({std::move(fd), std::move(path), facts});
    return {};
}

// In a sticky folder only a file's owner (or the folder's) can rename or remove it, so for a child of root or the user
// the others' write permission changes nothing. That does not hold where the file itself lies: others could put a
// library beside it that it would load.
void Walker::judge_folder(const Folder &folder, const struct stat &child, bool holds_the_file) {
    std::vector<Weakness> found = writers_of(folder.fd.get(), folder.facts, folder.path);
    const bool sheltered = (folder.facts.st_mode & S_ISVTX) && is_root_or_user(child.st_uid) && !holds_the_file;
    if (sheltered) {
        std::erase_if(found, [&](const Weakness &weakness) {
            return weakness.writer.kind != Writer::Kind::user || weakness.writer.id != folder.facts.st_uid;
        });
    }
    add(std::move(found));
}

Result<> Walker::follow(const Fd &link, const std::string &path) {
    if (++links_ > most_links) return refuse(path, ELOOP);
    std::array<char, PATH_MAX + 1> target;
    const ssize_t size = readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) return refuse(path, errno);
    if (size == 0 || size > PATH_MAX) return refuse(path, size == 0 ? ENOENT : ENAMETOOLONG);
    const std::string text(target.data(), static_cast<size_t>(size));
    if (text.front() == '/') folders_.resize(1);
    queue(text);
    return {};
}

Result<> Walker::finish(const std::string &name, const std::string &path, const struct stat &facts) {
    if (!S_ISREG(facts.st_mode)) return fail(Code::invalid, fmt::format("{}: not a regular file", path));
    Fd file(openat(folders_.back().fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) return refuse(path, errno);
    struct stat opened = {};
    if (fstat(file.get(), &opened) != 0) return refuse(path, errno);
    if (opened.st_ino != facts.st_ino || opened.st_dev != facts.st_dev) {
        return fail(Code::invalid, fmt::format("{}: changed while it was looked at", path));
    }
    walk_.file = std::move(file);
    walk_.identity = FileIdentity::of(opened);
    walk_.real = path;
    return {};
}

Result<> Walker::step(const std::string &name) {
    if (name == ".") return {};
    if (name == "..") {
        if (folders_.size() > 1) folders_.pop_back();
        return {};
    }
    const std::string path = join(folders_.back().path, name);
    Fd fd(openat(folders_.back().fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && goal_ == Goal::folder && errno == ENOENT) { // the goal is who could make it
        names_.clear();
        return {};
    }
    if (!fd) return refuse(path, errno);
    struct stat facts = {};
    if (fstat(fd.get(), &facts) != 0) return refuse(path, errno);
    judge_folder(folders_.back(), facts, names_.empty() && goal_ == Goal::file);
    if (S_ISLNK(facts.st_mode)) {
        add(writers_of(fd.get(), facts, path));
        return follow(fd, path);
    }
    if (S_ISDIR(facts.st_mode)) return enter(std::move(fd), path);
    if (!names_.empty() || goal_ == Goal::folder) return refuse(path, ENOTDIR);
    add(writers_of(fd.get(), facts, path));
    return finish(name, path, facts);
}

Result<Walk> Walker::run(const std::filesystem::path &path) {
    if (!path.is_absolute()) return fail(Code::invalid, fmt::format("{}: not an absolute path", path.string()));
    Fd top(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!top) return refuse("/", errno);
    if (auto entered = enter(std::move(top), "/"); !entered) return tl::unexpected(entered.error());
    queue(path.string());
    for (size_t steps = 0; !names_.empty(); ++steps) {
        if (steps > most_steps) return refuse(path.string(), ELOOP);
        const std::string name = std::move(names_.front());
        names_.pop_front();
        if (auto stepped = step(name); !stepped) return tl::unexpected(stepped.error());
    }
    if (goal_ == Goal::folder) {
        add(writers_of(folders_.back().fd.get(), folders_.back().facts, folders_.back().path));
        walk_.real = folders_.back().path;
    } else if (!walk_.file) {
        return fail(Code::invalid, fmt::format("{}: not a regular file", path.string()));
    }
    return std::move(walk_);
}

} // namespace

Result<Walk> walk_to(const std::filesystem::path &path) {
    return Walker(Walker::Goal::file).run(path);
}

Result<Walk> walk_to_folder(const std::filesystem::path &path) {
    return Walker(Walker::Goal::folder).run(path);
}

Yardstick Yardstick::of(const std::vector<std::filesystem::path> &running_files) {
    Yardstick yardstick;
    for (const auto &file : running_files) {
        const auto walk = walk_to(file);
        if (!walk) continue; // deleted since it was started: nothing is known, so nothing is allowed
        for (const Weakness &weakness : walk->weaknesses) yardstick.writers_.push_back(weakness.writer);
    }
    return yardstick;
}

bool Yardstick::covers(const Writer &writer) const {
    return std::any_of(writers_.begin(), writers_.end(), [&](const Writer &known) {
        return known == writer || (known.kind == Writer::Kind::everyone && writer.kind != Writer::Kind::unknown);
    });
}

std::optional<std::string> first_objection(const Walk &walk, const Yardstick *yardstick) {
    for (const Weakness &weakness : walk.weaknesses) {
        if (!yardstick || !yardstick->covers(weakness.writer)) return weakness.detail;
    }
    return std::nullopt;
}

} // namespace hbf::loader
