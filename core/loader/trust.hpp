// SPDX-License-Identifier: Apache-2.0
// Who, besides root and the user, could change a file that is about to be loaded.
//
// Every folder from / to the file is opened in turn and looked at through its descriptor; links are followed step by step,
// so the folders of a link and those of its target both count. Who can write to none of them cannot swap the file later
// either: that is why the file may then be loaded by its real path.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/common/fd.hpp"
#include "core/loader/identity.hpp"
#include "hbf/status.hpp"

namespace hbf::loader {

struct Writer {
    enum class Kind { user, group, everyone, unknown } kind = Kind::unknown;
    uint32_t id = 0; // of the user or group

    auto key() const { return std::tuple(kind, id); }
    bool operator==(const Writer &other) const { return key() == other.key(); }
};

struct Weakness {
    Writer writer;
    std::string detail; // "/opt/x: writable by everyone (mode 0777); remedy: chmod o-w /opt/x"
};

struct Walk {
    std::filesystem::path real; // no links left in it
    std::vector<Weakness> weaknesses;
    Fd file;               // the regular file at its end, opened for reading
    FileIdentity identity; // of that file
};

// `path` must be absolute. Errors: it does not exist, is no regular file, cannot be read, or links in a circle.
Result<Walk> walk_to(const std::filesystem::path &path);

// The same for a folder that libraries are looked for in: who could put one there. What of the path does not exist could be
// made by whoever can write to the folder above it. `file` of the result is empty.
Result<Walk> walk_to_folder(const std::filesystem::path &path);

// What the running program itself is exposed to. Whoever can change the program can change what it loads anyway, so the
// installation's own plugin folder is held to this and to nothing stricter.
class Yardstick {
public:
    static Yardstick of(const std::vector<std::filesystem::path> &running_files);
    bool covers(const Writer &writer) const;

private:
    std::vector<Writer> writers_;
};

// The first weakness that the yardstick (nullptr: none is allowed) does not cover.
std::optional<std::string> first_objection(const Walk &walk, const Yardstick *yardstick);

} // namespace hbf::loader
