// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/mounts.hpp"

#include <algorithm>

#include "core/host/parse.hpp"

namespace hbf::tools::doctor {
namespace {

bool lies_on(std::string_view path, std::string_view mount) {
    if (mount == "/") return path.starts_with('/');
    return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

} // namespace

std::optional<std::vector<Mount>> read_mounts(Look &look) {
    const std::string path = "proc/self/mountinfo";
    const auto text = look.need_text(path, Look::Form::large, Look::Show::no);
    if (!text) return std::nullopt;
    std::vector<Mount> out;
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"
    for (const std::string_view line : host::lines(*text)) {
        const auto words = host::words(line);
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 9 || words.end() - dash < 3)
            return look.cannot_tell(look.full(path) + ": no list of mounts"), std::nullopt;
        out.push_back({std::string(words[4]), std::string(dash[1]), std::string(dash[2])});
    }
    if (out.empty()) return look.cannot_tell(look.full(path) + ": no mount in it"), std::nullopt;
    return out;
}

const Mount *mount_of(const std::vector<Mount> &mounts, std::string_view path) {
    const Mount *best = nullptr;
    for (const Mount &mount : mounts)
        if (lies_on(path, mount.at) && (!best || mount.at.size() >= best->at.size()))
            best = &mount; // later ones hide earlier
    return best;
}

} // namespace hbf::tools::doctor
