// SPDX-License-Identifier: Apache-2.0
// The working directory is never searched, whatever it is called.
#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

// Where a program was started, for a while.
class WorkingDirectory {
public:
    explicit WorkingDirectory(const fs::path &path) : former_(fs::current_path()) { fs::current_path(path); }
    ~WorkingDirectory() {
        std::error_code ignored;
        fs::current_path(former_, ignored);
    }
    WorkingDirectory(const WorkingDirectory &) = delete;
    WorkingDirectory &operator=(const WorkingDirectory &) = delete;

private:
    fs::path former_;
};

HBF_CASE("security.relative_path_refused",
         {.rules = {"HBF-SEC-2"}, .kills = {"host_searches_relative"}, .limit_s = 60, .host_side = true}) {
    hostile::Scene scene;
    const fs::path folder = scene.folder("hostile"), inside = scene.folder("hostile/plugins");
    scene.plugin(folder, "good");
    scene.plugin(inside, "better");
    const WorkingDirectory here(folder);
    const std::string behind = inside.string() + ",plugins"; // an absolute one
    for (const char *path : {"plugins", ".", "./plugins", "../hostile", behind.c_str(), ""}) {
        for (const char *key : {"plugins.path", "plugins.path_add"}) {
            // An empty path says nothing, and then the installation's own folder counts.
            Settings settings = {{key, path}, {"plugins.probe_timeout_s", "30"}};
            const auto selection = try_select({{}, settings});
            const bool found = selection && (find(*selection, "good") || find(*selection, "better"));
            context.check(!found && !(selection && *path), "{} = \"{}\" is no absolute path, and {}", key, path,
                          found ? "a plugin of the working directory was found" : "that is no error");
        }
    }
    const Selection control = select({{inside}, {{"plugins.probe_timeout_s", "30"}}});
    if (must_find(control, "better").reason != Reason::selected)
        context.inconclusive("by its absolute path the same plugin is " + why(must_find(control, "better")) +
                             ": nothing was shown");
}

} // namespace
} // namespace hbf::conformance
