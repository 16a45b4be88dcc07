// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/private_cache.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "core/common/environment.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "conformance-";

fs::path users_cache() {
    const auto xdg = environment("XDG_CACHE_HOME"), home = environment("HOME");
    if (xdg && xdg->starts_with('/')) return fs::path(*xdg) / "hbf";
    if (home && home->starts_with('/')) return fs::path(*home) / ".cache" / "hbf";
    return {};
}

// "conformance-PID-XXXXXX" of a process that is gone: it was killed before it could tidy up.
void remove_abandoned(const fs::path &base) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(base, error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix) || !entry.is_directory(error) || entry.is_symlink(error)) continue;
        pid_t id = 0;
        const char *end = name.data() + name.size();
        const auto parsed = std::from_chars(name.data() + prefix.size(), end, id);
        if (parsed.ec != std::errc{} || parsed.ptr == end || *parsed.ptr != '-' || id <= 0) continue;
        std::error_code ignored;
        if (kill(id, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
    }
}

fs::path make_in(const fs::path &base) {
    std::error_code error;
    if (base.empty() || (!fs::create_directories(base, error) && error)) return {};
    remove_abandoned(base);
    std::string name = (base / fmt::format("{}{}-XXXXXX", prefix, getpid())).string();
    return mkdtemp(name.data()) ? fs::path(name) : fs::path();
}

} // namespace

PrivateCache::PrivateCache() : folder_(make_in(users_cache())) {
    std::error_code error;
    if (folder_.empty()) folder_ = make_in(fs::temp_directory_path(error));
}

PrivateCache::~PrivateCache() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

} // namespace hbf::conformance
