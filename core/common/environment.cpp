// SPDX-License-Identifier: Apache-2.0
#include "core/common/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/auxv.h>
#include <unistd.h>

namespace hbf {

bool process_is_privileged() noexcept {
    return getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
}

std::optional<std::string> environment(const char *name) {
    if (process_is_privileged()) return std::nullopt;
    const char *value = std::getenv(name);
    if (!value) return std::nullopt;
    return value;
}

std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix) {
    std::vector<std::pair<std::string, std::string>> found;
    if (process_is_privileged() || !environ) return found;
    for (char **entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        const size_t equals = text.find('=');
        if (equals == std::string_view::npos || !text.starts_with(prefix)) continue;
        found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> environment_changed(const std::vector<std::string> &changes) {
    std::vector<std::string> out = changes;
    for (char **entry = environ; environ && *entry; ++entry) {
        const std::string_view text = *entry, name = text.substr(0, text.find('=') + 1);
        const auto changed = [&](const std::string &change) { return change.starts_with(name); };
        if (std::none_of(changes.begin(), changes.end(), changed)) out.emplace_back(text);
    }
    return out;
}

} // namespace hbf
