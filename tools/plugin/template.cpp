// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/template.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/runner/programs.hpp"
#include "core/common/read_file.hpp"

namespace hbf::tools::plugin {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_file = 1 << 20, most_files = 256;

bool is_template(const fs::path &folder) {
    std::error_code error;
    return fs::is_regular_file(folder / "meson.build", error);
}

// A build tree says where its sources are, so that what is edited there is what is used; an installed program names no
// folder of whoever built it. "" where libhbf does not lie in a build tree's core/.
tl::expected<fs::path, std::string> of_build_tree(const fs::path &library_folder) {
    std::error_code error;
    const fs::path top = library_folder.parent_path(), said = top / "tools" / "plugin" / "template.path";
    if (library_folder.filename() != "core" || !fs::is_regular_file(top / "build.ninja", error)) return fs::path();
    const auto text = read_file(said, 4096);
    if (!text) return tl::unexpected(text.error().message);
    const fs::path source = text->substr(0, text->find('\n'));
    if (is_template(source)) return source;
    return tl::unexpected(
        fmt::format("the plugin template is not at {}, where {} says it is", source.string(), said.string()));
}

} // namespace

tl::expected<fs::path, std::string> template_folder() {
    const fs::path library_folder = conformance::library_folder();
    if (auto source = of_build_tree(library_folder); !source || !source->empty()) return source;
    // LIBDIR may be several folders below the prefix: lib, lib64, lib/x86_64-linux-gnu.
    fs::path top = library_folder;
    for (int up = 0; up < 4 && top.has_relative_path(); ++up) {
        top = top.parent_path();
        if (is_template(top / HBF_TEMPLATE_INSTALLED)) return top / HBF_TEMPLATE_INSTALLED;
    }
    return tl::unexpected(fmt::format("the plugin template is not at {} above {}; remedy: install HBF's development "
                                      "files (Debian: libhbf-dev)",
                                      HBF_TEMPLATE_INSTALLED, library_folder.string()));
}

tl::expected<std::string, std::string> filled(const std::string &text, const Placeholders &values) {
    constexpr const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t sign = std::min(text.find('@', at), text.size());
        out.append(text, at, sign - at);
        if (sign == text.size()) break;
        const size_t end = std::min(text.find_first_not_of(letters, sign + 1), text.size());
        if (end == text.size() || end == sign + 1 || text[end] != '@') { // @name@ of meson, an address, ...
            out += '@';
            at = sign + 1;
            continue;
        }
        const auto value = values.find(text.substr(sign + 1, end - sign - 1));
        if (value == values.end())
            return tl::unexpected(fmt::format("the placeholder {} is not known", text.substr(sign, end - sign + 1)));
        out += value->second;
        at = end + 1;
    }
    return out;
}

tl::expected<std::vector<TemplateFile>, std::string> read_template(const fs::path &folder, const Placeholders &values) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;
        if (at->is_regular_file(gone)) paths.push_back(at->path());
        if (paths.size() > most_files)
            return tl::unexpected(
                fmt::format("{} has more than {} files: this is no template", folder.string(), most_files));
    }
    if (error) return tl::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
    std::sort(paths.begin(), paths.end());
    std::vector<TemplateFile> files;
    for (const fs::path &path : paths) {
        const auto text = read_file(path, largest_file);
        if (!text) return tl::unexpected(text.error().message);
        auto content = filled(*text, values);
        if (!content) return tl::unexpected(fmt::format("{}: {}", path.string(), content.error()));
        const bool program = content->starts_with("#!");
        files.push_back({path.lexically_relative(folder), std::move(*content), program});
    }
    return files;
}

} // namespace hbf::tools::plugin
