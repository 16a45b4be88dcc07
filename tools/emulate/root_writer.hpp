// SPDX-License-Identifier: Apache-2.0
// Writes the files of a machine below a folder. What cannot be written throws std::exception naming the file.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace hbf::tools::emulate {

class RootWriter {
public:
    explicit RootWriter(std::filesystem::path root) : root_(std::move(root)) {}

    void file(const std::filesystem::path &path, const std::string &text,
              std::filesystem::perms mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write) const {
        const std::filesystem::path whole = root_ / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream out(whole, std::ios::binary | std::ios::trunc);
        out << text;
        if (!out.flush()) throw std::runtime_error(fmt::format("cannot write {}: {}", whole.string(), std::strerror(errno)));
        std::filesystem::permissions(whole, mode);
    }
    void link(const std::filesystem::path &path, const std::filesystem::path &target) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::filesystem::create_symlink(target, root_ / path);
    }
    void folder(const std::filesystem::path &path) const { std::filesystem::create_directories(root_ / path); }
    // What this machine says, where the emulated one has nothing of its own: limits of this very process.
    void as_here(const std::filesystem::path &path) const {
        std::ifstream in("/" / path, std::ios::binary);
        if (!in) return;
        file(path, std::string(std::istreambuf_iterator<char>(in), {}));
    }

private:
    std::filesystem::path root_;
};

} // namespace hbf::tools::emulate
