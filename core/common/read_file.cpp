// SPDX-License-Identifier: Apache-2.0
#include "core/common/read_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/common/errno_error.hpp"
#include "core/common/fd.hpp"

namespace hbf {
namespace {

std::string not_regular(const std::filesystem::path &path) {
    return fmt::format("{}: not a regular file", path.string());
}

// At most max_bytes + 1 bytes, so that the caller sees whether there are more.
Result<std::string> read_some(const std::filesystem::path &path, size_t max_bytes, struct stat *facts) {
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    if (!file) {
        const int error = errno; // ENXIO may be a socket or a device without a driver
        if (error == ENXIO && stat(path.c_str(), &status) == 0) return fail(Code::invalid, not_regular(path));
        return errno_error(path, error);
    }
    if (fstat(file.get(), &status) != 0) return errno_error(path, errno);
    if (S_ISDIR(status.st_mode)) return errno_error(path, EISDIR);
    if (!S_ISREG(status.st_mode)) return fail(Code::invalid, not_regular(path));
    if (facts) *facts = status;

    // Files of sysfs and procfs state sizes that mean nothing, so the end is where read says it is.
    std::string text;
    char block[4096];
    while (text.size() <= max_bytes) {
        const ssize_t count = read(file.get(), block, std::min(sizeof block, max_bytes + 1 - text.size()));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno_error(path, errno);
        if (count == 0) break;
        text.append(block, static_cast<size_t>(count));
    }
    return text;
}

} // namespace

Result<std::string> read_file(const std::filesystem::path &path, size_t max_bytes, struct stat *facts) {
    auto text = read_some(path, max_bytes, facts);
    if (text && text->size() > max_bytes) {
        return fail(Code::invalid, fmt::format("{}: larger than {} bytes", path.string(), max_bytes));
    }
    return text;
}

Result<std::string> read_file_head(const std::filesystem::path &path, size_t bytes) {
    auto text = read_some(path, bytes, nullptr);
    if (text) text->resize(std::min(text->size(), bytes));
    return text;
}

} // namespace hbf
