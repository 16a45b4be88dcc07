// SPDX-License-Identifier: Apache-2.0
// Reads small files of sysfs and procfs below a root, and remembers what could not be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hbf/inventory.hpp"

namespace hbf::host {

// Paths are relative to the root: "sys/bus/pci/devices". A file that does not exist is an empty answer and no problem: most
// of them are optional. One that exists but cannot be read, is too large or makes no sense is a problem.
class Reader {
public:
    static constexpr size_t most_entries = 10000; // of one folder
    static constexpr size_t most_bytes = 65536;   // of one file

    Reader(std::filesystem::path root, std::vector<std::string> &problems);

    std::optional<std::string> text(const std::filesystem::path &path); // without blanks at the ends, printable
    std::optional<std::string> head(const std::filesystem::path &path, size_t bytes); // the first bytes, raw, of any file
    std::optional<uint64_t> number(const std::filesystem::path &path);                // decimal, or hexadecimal after 0x
    std::optional<int64_t> integer(const std::filesystem::path &path);                // decimal, with a sign
    int node(const std::filesystem::path &path);                                      // integer in a node's range, else -1
    Setting setting(const std::filesystem::path &path);                               // text with its source, or why not

    std::string link_name(const std::filesystem::path &path); // last part of a link's target, "" if there is no link
    // Names in a folder, sorted as people do (mem2 before mem10), at most most_entries.
    std::vector<std::string> entries(const std::filesystem::path &path);
    bool exists(const std::filesystem::path &path) const;

    std::filesystem::path full(const std::filesystem::path &path) const { return root_ / path; }
    void problem(const std::filesystem::path &path, const std::string &what);

private:
    std::filesystem::path root_;
    std::vector<std::string> &problems_;
};

} // namespace hbf::host
