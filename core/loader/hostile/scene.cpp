// SPDX-License-Identifier: Apache-2.0
#include "core/loader/hostile/scene.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hbf::hostile {

// Looked for and not compiled in, so that a program that is installed names no folder of the machine that built it.
fs::path built() {
    static const fs::path folder = [] {
        const fs::path here = fs::canonical("/proc/self/exe").parent_path();
        if (fs::exists(here / "standins" / "chameleon.so")) return here / "standins"; // installed
        fs::path top = here;
        while (top.has_relative_path() && !fs::exists(top / "core/loader/hostile/chameleon.so")) top = top.parent_path();
        if (!top.has_relative_path()) throw std::runtime_error("chameleon.so is neither beside the program nor built");
        return top / "core/loader/hostile";
    }();
    return folder;
}

Scene::Scene() {
    // Meson names here the folders of the libraries that a test depends on; what nobody is to find would be found.
    unsetenv("LD_LIBRARY_PATH");
    const char *base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base == '/' ? base : "/tmp") + "/hbf-hostile-XXXXXX";
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no folder for a test: " + pattern);
    top_ = fs::canonical(pattern);
}

Scene::~Scene() {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
}

fs::path Scene::folder(const std::string &name, unsigned mode) {
    const fs::path path = top_ / name;
    fs::create_directories(path);
    if (chmod(path.c_str(), mode) != 0) throw std::runtime_error("chmod " + path.string());
    return path;
}

void Scene::plugin(const fs::path &folder, const std::string &name, const std::string &library, const std::string &extra) {
    write_bytes(folder / (name + ".so"), read_bytes(built() / library));
    manifest(folder, name, extra);
}

void Scene::manifest(const fs::path &folder, const std::string &name, const std::string &extra) {
    write_bytes(folder / (name + ".plugin.toml"), manifest_text(name, extra));
}

std::string manifest_text(const std::string &name, const std::string &extra) {
    return fmt::format(
        "format = 1\nname = \"{0}\"\nvendor = \"Test\"\nversion = \"1.9.0\"\nlibrary = \"{0}.so\"\nabi_min = \"0.1\"\n"
        "abi_max = \"0.1\"\nkind = \"device\"\n{1}",
        name, extra);
}

std::string read_bytes(const fs::path &file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes(in ? fs::file_size(file) : 0, '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        throw std::runtime_error("cannot read " + file.string());
    return bytes;
}

void write_bytes(const fs::path &file, const std::string &bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out || chmod(file.c_str(), 0644) != 0) throw std::runtime_error("cannot write " + file.string());
}

} // namespace hbf::hostile
