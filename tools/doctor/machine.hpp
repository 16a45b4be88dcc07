// SPDX-License-Identifier: Apache-2.0
// The machine below a root, read once and remembered. It tells apart what is not there, what may not be read and what makes
// no sense, because only the first of the three can be an answer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hbf::tools::doctor {

struct Reading {
    enum class State { absent, unreadable, garbled, value };
    State state = State::absent;
    std::string text;     // without blanks at the ends; of a raw reading as it stands
    std::string error;    // begins with the path; "" for a value
    bool refused = false; // permission: root could read it
};

struct Names { // of a folder, sorted as people do
    Reading::State state = Reading::State::absent;
    std::vector<std::string> names;
    std::string error;
    bool refused = false;
};

class Machine {
public:
    enum class Form {
        text,  // at most 64 KiB; binary bytes are garbage
        large, // the same, at most 1 MiB
        head,  // the first 16 KiB of a text of any length
        list,  // words that end with NUL, each a line of the answer
        log,   // records of the kernel's log, which on a running machine is a device; at most 1 MiB
        raw    // the first 64 bytes, whatever they are
    };

    explicit Machine(std::filesystem::path root);

    // Paths are relative to the root: "proc/cmdline". A link that leads out of the root is unreadable: what lies there is
    // another machine's.
    const Reading &read(const std::string &path, Form form = Form::text);
    const Names &entries(const std::string &path);
    const std::string &link(const std::string &path); // target as it stands, "" if there is no link
    bool exists(const std::string &path) const;

    bool running() const { return root_ == "/"; } // the one this program runs on
    std::string full(const std::string &path) const { return (root_ / path).string(); }

private:
    bool leads_out(const std::filesystem::path &path) const;
    Reading fresh(const std::string &path, Form form) const;
    Names fresh_entries(const std::string &path) const;

    std::filesystem::path root_, real_root_;
    std::map<std::string, Reading> readings_;
    std::map<std::string, Names> folders_;
    std::map<std::string, std::string> links_;
};

} // namespace hbf::tools::doctor
