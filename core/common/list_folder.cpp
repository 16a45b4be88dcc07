// SPDX-License-Identifier: Apache-2.0
#include "core/common/list_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>

#include "core/common/errno_error.hpp"

namespace hbf {
namespace {

struct Close {
    void operator()(DIR *open) const { closedir(open); }
};

} // namespace

Result<std::vector<std::string>> list_folder(const std::filesystem::path &folder, size_t most) {
    const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
    if (!open) return errno_error(folder, errno);
    std::vector<std::string> names;
    for (;;) {
        errno = 0; // an end and an error look alike
        const dirent *entry = readdir(open.get());
        if (!entry) break;
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == most) return fail(Code::invalid, fmt::format("{}: more than {} entries", folder.string(), most));
        names.emplace_back(name);
    }
    if (errno != 0) return errno_error(folder, errno);
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace hbf
