// SPDX-License-Identifier: Apache-2.0
#include "default_storage.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::host {
namespace {

void make_directory(const std::string &path) {
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
    hbf_status status = errno == EACCES || errno == EPERM || errno == EROFS ? HBF_PERMISSION : HBF_UNAVAILABLE;
    sdk::fail(status,
              fmt::format("cannot make {}: {}; set storage_path to a directory of yours", path, std::strerror(errno)));
}

} // namespace

std::string default_storage_directory() {
    std::string base;
    // secure_getenv: under set-uid the environment is someone else's.
    if (const char *xdg = ::secure_getenv("XDG_CACHE_HOME"); xdg && xdg[0] == '/') {
        base = xdg;
    } else if (const char *home = ::secure_getenv("HOME"); home && home[0] == '/') {
        base = home;
        base += "/.cache";
    } else {
        sdk::fail(HBF_UNAVAILABLE, "neither XDG_CACHE_HOME nor HOME names a directory; set storage_path to one of yours");
    }
    make_directory(base);
    make_directory(base + "/hbf");
    make_directory(base + "/hbf/storage");
    return base + "/hbf/storage";
}

} // namespace hbf::host
