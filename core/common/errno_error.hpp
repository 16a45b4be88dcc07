// SPDX-License-Identifier: Apache-2.0
// An errno value of a call on a path as an Error.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "hbf/status.hpp"

namespace hbf {

inline tl::unexpected<Error> errno_error(const std::filesystem::path &path, int error) {
    const Code code = error == ENOENT || error == ENOTDIR || error == ENODEV || error == ENXIO ? Code::unavailable
                      : error == EACCES || error == EPERM                                      ? Code::permission
                      : error == ENOMEM || error == EMFILE || error == ENFILE                  ? Code::exhausted
                                                                                               : Code::invalid;
    return fail(code, fmt::format("{}: {}", path.string(), std::strerror(error)));
}

} // namespace hbf
