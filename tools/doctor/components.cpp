// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/components.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/version_range.hpp"

namespace hbf::tools::doctor {
namespace {

// The first word like 535.54.03 or 6.0.2-115.
std::string first_version(std::string_view text) {
    constexpr std::string_view between = " \t\n\",:";
    while (!text.empty()) {
        const size_t begin = std::min(text.find_first_not_of(between), text.size());
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find_first_of(between));
        text.remove_prefix(word.size());
        const size_t end = std::min(word.find_first_not_of("0123456789."), word.size());
        const std::string_view numbers = word.substr(0, end);
        const bool whole = end == word.size() || word[end] == '-';
        if (whole && numbers.find('.') != std::string_view::npos && !parse_version(numbers).empty() && numbers[0] != '.')
            return std::string(word);
    }
    return {};
}

std::string version_in(const Component &component, const std::string &text) {
    size_t at = text.find(component.line);
    if (at == std::string::npos) return {};
    at = text.find(component.after, at);
    if (at == std::string::npos) return {};
    return first_version(std::string_view(text).substr(at + component.after.size()));
}

std::vector<std::string> files_of(Look &look, const Component &component) {
    const std::string folder(component.folder), file(component.file);
    if (component.starts.empty()) return {below(folder, file)};
    std::vector<std::string> out;
    for (const std::string &name : look.entries(folder))
        if (name.starts_with(component.starts)) out.push_back(below(folder, name, file));
    return out;
}

} // namespace

std::vector<Installed> installed(Look &look, uint16_t vendor, std::string_view what) {
    std::vector<Installed> out;
    std::vector<std::string> silent; // files that are there and gave no version yet
    for (const Component &component : components()) {
        if (component.vendor != vendor || component.what != what) continue;
        for (const std::string &file : files_of(look, component)) {
            if (!look.exists(file, Look::Show::no)) continue; // a folder of that name without the file
            const auto text = look.text(file);
            if (!text) continue;
            const std::string version = version_in(component, *text);
            if (version.empty())
                silent.push_back(file);
            else if (std::none_of(out.begin(), out.end(), [&](const Installed &one) {
                         return one.component->id == component.id && one.version == version;
                     }))
                out.push_back({&component, version, file});
        }
    }
    for (const std::string &file : silent)
        if (std::none_of(out.begin(), out.end(), [&](const Installed &one) { return one.file == file; }))
            look.cannot_tell(look.full(file) + ": names no version that is understood");
    return out;
}

} // namespace hbf::tools::doctor
