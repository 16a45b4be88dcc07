// SPDX-License-Identifier: Apache-2.0
// Where profiles of floors are looked for: by path, or by the name of one that came with hbf.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "tools/bandwidth/profile.hpp"

namespace hbf::tools::bandwidth {
namespace {

namespace fs = std::filesystem;
using Wrong = tl::unexpected<std::string>;

// In a build folder, or beside the program that was installed; "" if there is none.
fs::path own_folder() {
    std::error_code error;
    const fs::path program = fs::canonical("/proc/self/exe", error).parent_path();
    fs::path at = program;
    for (int up = 0; up < 4 && at.has_relative_path(); ++up, at = at.parent_path())
        if (fs::is_regular_file(at / "build.ninja", error)) return at / "packaging" / "profiles";
    return program.parent_path() / "share" / "hbf" / "profiles";
}

} // namespace

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(own_folder(), error))
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

tl::expected<Profile, std::string> load_profile(const std::string &file_or_name) {
    std::string file = file_or_name;
    if (const auto names = profile_names(); std::find(names.begin(), names.end(), file) != names.end()) {
        file = (own_folder() / (file + ".json")).string();
    } else if (file.find_first_of("/.") == std::string::npos && !fs::exists(file)) {
        return Wrong(fmt::format("no profile '{}'{}; there are: {}; else name a file", file, did_you_mean(file, names),
                                 names.empty() ? "none here" : fmt::format("{}", fmt::join(names, ", "))));
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) return Wrong(fmt::format("cannot read profile '{}': {}", file, std::strerror(errno)));
    std::string text;
    char buffer[4096];
    constexpr size_t most = 1 << 20;
    while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
        text.append(buffer, static_cast<size_t>(in.gcount()));
        if (text.size() > most) return Wrong(fmt::format("profile '{}' is larger than 1 MiB: not a profile", file));
    }
    if (in.bad()) return Wrong(fmt::format("cannot read profile '{}': {}", file, std::strerror(errno)));
    return parse_profile(text, file);
}

} // namespace hbf::tools::bandwidth
