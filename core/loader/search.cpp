// SPDX-License-Identifier: Apache-2.0
#include "core/loader/search.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/common/list_folder.hpp"
#include "core/loader/install_paths.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_entries = 65536; // of one folder: more is a mistake, such as / or a spool
constexpr std::string_view manifest_suffix = ".plugin.toml", library_suffix = ".so";

Result<> add_folders(const ConfigValue &value, const char *key, std::vector<SearchFolder> &out) {
    for (const std::string &folder : split(value.value, ',')) {
        const std::string shown = value.where.empty() ? key : value.where;
        if (folder.empty() || folder.front() != '/') {
            return fail(Code::invalid,
                        fmt::format("{}: \"{}\" is no absolute path; plugins are never looked for relative to the "
                                    "current folder",
                                    shown, printable(folder)));
        }
        out.push_back({folder, false});
    }
    return {};
}

class Collector {
public:
    explicit Collector(SearchResult &result) : result_(result) {}

    Result<> add(const SearchFolder &folder, bool wanted) {
        struct stat facts = {};
        if (stat(folder.path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
            if (wanted) note("search folder {} is no folder that can be read: nothing is searched there", folder.path);
            return {};
        }
        if (!seen_.insert({facts.st_dev, facts.st_ino}).second) return {}; // named twice, or a link to an earlier one
        std::vector<std::string> names, folders;
        if (auto listed = list(folder.path, names, folders); !listed) return listed;
        for (const std::string &name : names) {
            auto &list = name.ends_with(manifest_suffix) ? result_.manifests : result_.shared_objects;
            if (list.size() == most_candidates) {
                if (!full_)
                    note("more than {} plugins found: {} and what follows is left out", most_candidates,
                         (folder.path / name).string());
                full_ = true;
                continue;
            }
            list.push_back(folder.path / name);
        }
        if (!folder.sub_folders) return {};
        for (const std::string &name : folders)
            if (auto added = add({folder.path / name, false}, false); !added) return added;
        return {};
    }

private:
    template <class... Args>
    void note(fmt::format_string<Args...> format, Args &&...args) {
        result_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    void note(const char *format, const fs::path &path) {
        result_.notes.push_back(fmt::format(fmt::runtime(format), printable(path.string())));
    }

    // An error only where this process lacks what it needs to look: other plugins would be chosen then than are there.
    Result<> list(const fs::path &folder, std::vector<std::string> &names, std::vector<std::string> &folders) {
        auto entries = list_folder(folder, most_entries);
        if (!entries && entries.error().code == Code::exhausted) return tl::unexpected(entries.error());
        if (!entries) {
            result_.notes.push_back("search folder " + printable(entries.error().message) + ": nothing of it is used");
            return {};
        }
        for (std::string &name : *entries) {
            const bool fits = (name.ends_with(manifest_suffix) && name.size() > manifest_suffix.size()) ||
                              (name.ends_with(library_suffix) && name.size() > library_suffix.size());
            struct stat facts = {};
            if (fits)
                names.push_back(std::move(name));
            else if (stat((folder / name).c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
                folders.push_back(std::move(name));
        }
        return {};
    }

    SearchResult &result_;
    std::set<std::pair<dev_t, ino_t>> seen_;
    bool full_ = false;
};

} // namespace

Result<std::vector<SearchFolder>> search_folders(const Config &config) {
    std::vector<SearchFolder> folders;
    if (auto added = add_folders(config.get("plugins.path_add"), "plugins.path_add", folders); !added)
        return tl::unexpected(added.error());
    const ConfigValue &path = config.get("plugins.path");
    if (auto added = add_folders(path, "plugins.path", folders); !added) return tl::unexpected(added.error());
    const InstallPaths &own = install_paths();
    if (path.value.empty() && !own.plugins.empty()) folders.push_back({own.plugins, own.sub_folders});
    return folders;
}

Result<SearchResult> search(const std::vector<SearchFolder> &folders) {
    SearchResult result;
    Collector collector(result);
    for (const SearchFolder &folder : folders)
        if (auto added = collector.add(folder, true); !added) return tl::unexpected(added.error());
    return result;
}

} // namespace hbf::loader
