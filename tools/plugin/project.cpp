// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/project.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/fd.hpp"

namespace hbf::tools::plugin {
namespace {

namespace fs = std::filesystem;

auto failed(const fs::path &path, int error) {
    return tl::unexpected(fmt::format("{}: {}", path.string(), std::strerror(error)));
}

auto taken(const fs::path &folder) {
    return tl::unexpected(fmt::format("{} is there already, and nothing of it is overwritten; remedy: another name, or "
                                      "--dir with another folder",
                                      folder.string()));
}

tl::expected<void, std::string> write_whole(const fs::path &path, const TemplateFile &file) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.program ? 0777 : 0666)); // less the umask
    if (!fd) return failed(path, errno);
    for (size_t at = 0; at < file.content.size();) {
        const ssize_t count = write(fd.get(), file.content.data() + at, file.content.size() - at);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed(path, errno);
        at += static_cast<size_t>(count);
    }
    if (fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS)
        return failed(path, errno); // a full disk may show here only
    return {};
}

// The folder the files are written to first; gone with the object unless it was renamed.
class Draft {
public:
    explicit Draft(const fs::path &target) {
        path_ = (target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string())).string();
        if (!mkdtemp(path_.data())) {
            error_ = errno;
            path_.clear();
        }
    }
    ~Draft() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Draft(const Draft &) = delete;
    Draft &operator=(const Draft &) = delete;

    const fs::path path() const { return path_; }
    int error() const { return error_; }

    tl::expected<void, std::string> become(const fs::path &target) {
        if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0)
            return path_.clear(), done();
        if (errno == EEXIST) return taken(target);
        if (errno != EINVAL && errno != ENOSYS) return failed(target, errno);
        // A file system that cannot say "only if it is not there": an empty folder holds the place.
        if (mkdir(target.c_str(), 0700) != 0) return errno == EEXIST ? taken(target) : failed(target, errno);
        if (rename(path_.c_str(), target.c_str()) == 0) return path_.clear(), done();
        const int error = errno;
        rmdir(target.c_str());
        return failed(target, error);
    }

private:
    static tl::expected<void, std::string> done() { return {}; }

    std::string path_;
    int error_ = 0;
};

mode_t folder_mode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~mask;
}

} // namespace

tl::expected<void, std::string> write_project(const fs::path &folder, const std::vector<TemplateFile> &files,
                                              const std::function<bool()> &stop) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder, error))) return taken(folder);
    const fs::path above = folder.parent_path();
    if (!fs::is_directory(above, error))
        return tl::unexpected(fmt::format("{} is no folder; remedy: make it first", above.string()));
    Draft draft(folder);
    if (draft.error() != 0) return failed(above, draft.error());
    for (const TemplateFile &file : files) {
        if (stop && stop()) return tl::unexpected(std::string("interrupted; nothing was written"));
        const fs::path path = draft.path() / file.path;
        fs::create_directories(path.parent_path(), error);
        if (error) return tl::unexpected(fmt::format("{}: {}", path.parent_path().string(), error.message()));
        if (auto written = write_whole(path, file); !written) return written;
    }
    if (chmod(draft.path().c_str(), folder_mode()) != 0) return failed(draft.path(), errno);
    return draft.become(folder);
}

} // namespace hbf::tools::plugin
