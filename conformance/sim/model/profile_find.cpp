// SPDX-License-Identifier: Apache-2.0
// Where profiles are looked for.
#include <cstdlib>
#include <filesystem>
#include <set>

#include <dlfcn.h>
#include <fmt/format.h>

#include "conformance/sim/model/profile.hpp"
#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"

namespace hbf::model {
namespace {

namespace fs = std::filesystem;
constexpr size_t most_bytes = 1 << 20;

fs::path own_folder() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void *>(&profile_folders), &info) == 0 || !info.dli_fname) return {};
    std::error_code error;
    return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

void add(std::vector<std::string> &folders, const fs::path &folder) {
    std::error_code error;
    if (!folder.empty() && fs::is_directory(folder, error)) folders.push_back(folder.string());
}

Result<Profile> load_file(const fs::path &path) {
    const auto text = read_file(path, most_bytes);
    if (!text) return tl::unexpected(text.error());
    return parse_profile(*text, path.string());
}

} // namespace

std::vector<std::string> profile_folders() {
    std::vector<std::string> folders;
    if (const char *const list = std::getenv("HBF_EMULATE_PROFILES")) {
        const std::string text = list;
        for (size_t at = 0; at <= text.size();) {
            const size_t end = std::min(text.find(':', at), text.size());
            add(folders, text.substr(at, end - at));
            at = end + 1;
        }
    }
    constexpr int levels = 6; // PREFIX/lib/x86_64-linux-gnu/hbf/emulators
    fs::path at = own_folder();
    for (int i = 0; i < levels && !at.empty(); ++i) {
        add(folders, at / "profiles");
        add(folders, at / "share" / "hbf" / "profiles");
        if (at == at.parent_path()) break;
        at = at.parent_path();
    }
    return folders;
}

Result<Profile> load_profile(const std::string &path_or_name) {
    if (path_or_name.empty()) return fail(Code::invalid, "the profile's name is empty");
    if (path_or_name.find('/') != std::string::npos || path_or_name.ends_with(".toml")) return load_file(path_or_name);
    std::set<std::string> known;
    const auto folders = profile_folders();
    for (const std::string &folder : folders) {
        const fs::path path = fs::path(folder) / (path_or_name + ".toml");
        std::error_code error;
        if (fs::is_regular_file(path, error)) return load_file(path);
        for (const auto &entry : fs::directory_iterator(folder, error))
            if (entry.path().extension() == ".toml") known.insert(entry.path().stem().string());
    }
    const std::vector<std::string> names(known.begin(), known.end());
    return fail(
        Code::unavailable,
        fmt::format("no machine \"{}\"{}; there are: {}", path_or_name, did_you_mean(path_or_name, names),
                    names.empty() ? "none: no folder of profiles was found" : fmt::format("{}", fmt::join(names, ", "))));
}

} // namespace hbf::model
