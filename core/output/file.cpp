// SPDX-License-Identifier: Apache-2.0
#include "core/output/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hbf {
namespace {

using Outcome = tl::expected<void, std::string>;

auto failed(const std::filesystem::path &path, std::string_view what, int error) {
    return tl::unexpected(fmt::format("cannot write '{}': {}: {}", path.string(), what, std::strerror(error)));
}

std::filesystem::path folder_of(const std::filesystem::path &path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

bool is_special(const std::filesystem::path &path) {
    struct stat info = {};
    return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        auto written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written == 0 ? EIO : errno;
        content.remove_prefix(static_cast<size_t>(written));
    }
    return 0;
}

Outcome write_special(const std::filesystem::path &path, std::string_view content) {
    int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failed(path, "open", errno);
    int error = write_all(fd, content);
    if (::close(fd) != 0 && error == 0) error = errno;
    if (error != 0) return failed(path, "write", error);
    return {};
}

} // namespace

Outcome check_writable(const std::filesystem::path &path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return failed(path, "name a file", EISDIR);
    if (is_special(path)) {
        if (::access(path.c_str(), W_OK) != 0) return failed(path, "access", errno);
        return {};
    }
    if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) {
        return failed(path, fmt::format("its folder '{}'", folder_of(path).string()), errno);
    }
    return {};
}

Outcome write_file(const std::filesystem::path &path, std::string_view content) {
    if (is_special(path)) return write_special(path, content);
    // Through a link, the file it names is replaced, not the link.
    std::error_code no_target;
    auto target = std::filesystem::is_symlink(path, no_target) ? std::filesystem::canonical(path, no_target) : path;
    if (no_target) target = path;
    auto beside = (folder_of(target) / ("." + target.filename().string() + ".XXXXXX")).string();
    int fd = ::mkostemp(beside.data(), O_CLOEXEC);
    if (fd < 0) return failed(path, "create a file beside it", errno);
    struct stat earlier = {};
    mode_t mask = ::umask(0);
    ::umask(mask);
    mode_t mode = stat(target.c_str(), &earlier) == 0 ? earlier.st_mode & 07777 : 0666 & ~mask;
    const char *step = "write";
    int error = write_all(fd, content);
    if (error == 0 && ::fchmod(fd, mode) != 0) step = "set its mode", error = errno;
    if (error == 0 && ::fsync(fd) != 0) step = "flush to the disk", error = errno;
    if (::close(fd) != 0 && error == 0) step = "close", error = errno;
    if (error == 0 && ::rename(beside.c_str(), target.c_str()) != 0) step = "rename", error = errno;
    if (error != 0) {
        ::unlink(beside.c_str());
        return failed(path, step, error);
    }
    return {};
}

} // namespace hbf
