// SPDX-License-Identifier: Apache-2.0
// Folders full of plugins for tests: good ones, and every kind of bad one with the reason it must be given.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hbf::hostile {

namespace fs = std::filesystem;

// The folder that holds chameleon.so and its friends: "standins" beside the running program where that is installed, else of
// the build that the program lies in. Throws std::runtime_error if there is neither.
fs::path built();

// A folder of its own below TMPDIR, gone with the object.
class Scene {
public:
    Scene();
    ~Scene();
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    const fs::path &top() const { return top_; }
    fs::path folder(const std::string &name, unsigned mode = 0755); // made below top

    // A plugin NAME in `folder`: the chameleon under that name, or `library` of built(); and its manifest, with
    // `extra` lines at the end.
    void plugin(const fs::path &folder, const std::string &name, const std::string &library = "chameleon.so",
                const std::string &extra = "");
    // Only a manifest for NAME.so.
    void manifest(const fs::path &folder, const std::string &name, const std::string &extra = "");

private:
    fs::path top_;
};

std::string manifest_text(const std::string &name, const std::string &extra = "");
std::string read_bytes(const fs::path &file);
void write_bytes(const fs::path &file, const std::string &bytes);

// Fills `folder` (and others beside it, all named in `path`) with one good plugin, called "good", and all hostile ones.
// Name -> the reason each must get.
struct Expectation {
    std::vector<fs::path> path;
    std::map<std::string, std::string> reasons;
};
Expectation stage_everything(Scene &scene);

} // namespace hbf::hostile
