// SPDX-License-Identifier: Apache-2.0
#include "core/loader/run_path.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace hbf::loader {
namespace {

namespace fs = std::filesystem;

// As the dynamic linker splits: an empty part is the working directory, a blank is part of a name.
std::vector<std::string> parts_of(const std::string &run_path) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= run_path.size();) {
        const size_t end = std::min(run_path.find(':', at), run_path.size());
        parts.push_back(run_path.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::string expanded(std::string part, const std::string &origin) {
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"})
        for (size_t at = 0; (at = part.find(token, at)) != std::string::npos; at += origin.size())
            part.replace(at, token.size(), origin);
    return part;
}

std::optional<std::string> weakness_of(const Result<Walk> &walk, const Yardstick *yardstick) {
    if (!walk) return walk.error().message + "; so it cannot be told who could put a library there";
    return first_objection(*walk, yardstick);
}

// Of one folder, as the library writes it.
std::optional<std::string> folder_objection(const std::string &part, const ElfFacts &facts, const fs::path &library,
                                            const Yardstick *yardstick) {
    const std::string folder = expanded(part, library.parent_path().string());
    if (!folder.starts_with('/')) return "that is relative to the working directory";
    if (folder.find('$') != std::string::npos) return "what the dynamic linker makes of that is not known here";
    if (auto weak = weakness_of(walk_to_folder(folder), yardstick)) return weak;
    for (const std::string &name : facts.needed) {
        const auto walk = walk_to(fs::path(folder) / name);
        if (!walk) continue; // not there, so it is found elsewhere or nowhere
        if (auto weak = first_objection(*walk, yardstick)) return weak;
    }
    return std::nullopt;
}

std::optional<std::string> path_objection(const fs::path &needed, const Yardstick *yardstick) {
    if (!needed.is_absolute()) return "that is relative to the working directory";
    if (const auto walk = walk_to(needed)) return first_objection(*walk, yardstick);
    return weakness_of(walk_to_folder(needed.parent_path()), yardstick);
}

} // namespace

std::optional<std::string> run_path_objection(const ElfFacts &facts, const fs::path &library, const Yardstick *yardstick) {
    constexpr const char *remedy = "; remedy: link it without a run path (DT_RUNPATH) or paths of libraries";
    if (!facts.run_path.empty()) { // the dynamic linker takes no notice of an empty one
        for (const std::string &part : parts_of(facts.run_path))
            if (const auto weak = folder_objection(part, facts, library, yardstick))
                return fmt::format("it has the libraries that it needs looked for in \"{}\": {}{}", part, *weak,
                                   weak->find("; remedy: ") == std::string::npos ? remedy : "");
    }
    for (const std::string &name : facts.needed) {
        if (name.find('/') == std::string::npos) continue;
        if (const auto weak = path_objection(name, yardstick))
            return fmt::format("it needs \"{}\": {}{}", name, *weak,
                               weak->find("; remedy: ") == std::string::npos ? remedy : "");
    }
    return std::nullopt;
}

} // namespace hbf::loader
