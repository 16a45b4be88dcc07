// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/common/printable.hpp"
#include "core/common/read_file.hpp"
#include "core/host/parse.hpp"
#include "core/host/reader.hpp"

namespace hbf::tools::doctor {
namespace {

namespace fs = std::filesystem;
using State = Reading::State;

// Text as the kernel and people write it. printable() shows anything else as something else.
bool is_text(const std::string &text) {
    std::string flat = text;
    std::replace_if(flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    return hbf::printable(flat, flat.size() + 1) == flat;
}

size_t most_of(Machine::Form form) {
    switch (form) {
    case Machine::Form::large:
    case Machine::Form::log:
        return 1 << 20;
    case Machine::Form::head:
        return 16384;
    case Machine::Form::raw:
        return 64; // what any user may read of a PCI device
    default:
        return 65536;
    }
}

// Each read gives one record, until there is none left now.
Result<std::string> read_log(const fs::path &path, size_t most) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        const Code code = errno == ENOENT                     ? Code::unavailable
                          : errno == EACCES || errno == EPERM ? Code::permission
                                                              : Code::invalid;
        return fail(code, path.string() + ": " + std::strerror(errno));
    }
    std::string text;
    char record[8192];
    while (text.size() < most) {
        const ssize_t count = read(fd, record, sizeof record);
        if (count < 0 && (errno == EPIPE || errno == EINTR)) continue; // this record was overwritten meanwhile
        if (count <= 0) break;
        text.append(record, static_cast<size_t>(count));
    }
    close(fd);
    return text;
}

} // namespace

Machine::Machine(fs::path root) : root_(std::move(root)) {
    std::error_code error;
    real_root_ = fs::canonical(root_, error);
    if (error) real_root_ = root_;
}

bool Machine::leads_out(const fs::path &path) const {
    if (running()) return false;
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error) return false; // a loop of links: opening it says so
    return std::mismatch(real_root_.begin(), real_root_.end(), real.begin(), real.end()).first != real_root_.end();
}

bool Machine::exists(const std::string &path) const {
    std::error_code error;
    return fs::symlink_status(root_ / path, error).type() != fs::file_type::not_found && !error;
}

Reading Machine::fresh(const std::string &path, Form form) const {
    Reading out;
    const fs::path file = root_ / path;
    if (leads_out(file)) return {State::unreadable, "", full(path) + ": is a link out of the machine's root", false};
    const bool part = form == Form::head || form == Form::raw;
    auto got = part                             ? read_file_head(file, most_of(form))
               : form == Form::log && running() ? read_log(file, most_of(form))
                                                : read_file(file, most_of(form));
    if (!got) {
        // Many files of sysfs are there and answer "no such device": that is no absence.
        const bool there = got.error().code != Code::unavailable || exists(path);
        out.state = there ? State::unreadable : State::absent;
        out.error = there || running() ? got.error().message : full(path) + ": not there";
        out.refused = got.error().code == Code::permission;
        return out;
    }
    out.state = State::value;
    if (form == Form::raw) {
        out.text = std::move(*got);
        return out;
    }
    if (form == Form::list) std::replace(got->begin(), got->end(), '\0', '\n');
    out.text = host::trimmed(*got);
    const bool nul_at_end = got->find('\0') != std::string::npos;
    if (nul_at_end || !is_text(out.text)) {
        out.state = State::garbled;
        out.error = full(path) + ": binary bytes where text is expected";
    }
    return out;
}

const Reading &Machine::read(const std::string &path, Form form) {
    const auto [place, added] = readings_.try_emplace(path);
    if (added) place->second = fresh(path, form);
    return place->second;
}

Names Machine::fresh_entries(const std::string &path) const {
    Names out;
    const fs::path folder = root_ / path;
    if (leads_out(folder)) {
        out.state = State::unreadable;
        out.error = full(path) + ": is a link out of the machine's root";
        return out;
    }
    std::vector<std::string> problems;
    out.names = host::Reader(root_, problems).entries(path);
    if (!problems.empty()) {
        out.state = State::unreadable;
        out.error = problems.front();
        out.refused = access(folder.c_str(), R_OK | X_OK) != 0 && errno == EACCES;
    } else {
        out.state = exists(path) ? State::value : State::absent;
        if (out.state == State::absent) out.error = full(path) + ": not there";
    }
    return out;
}

const Names &Machine::entries(const std::string &path) {
    const auto [place, added] = folders_.try_emplace(path);
    if (added) place->second = fresh_entries(path);
    return place->second;
}

const std::string &Machine::link(const std::string &path) {
    const auto [place, added] = links_.try_emplace(path);
    if (added) {
        std::error_code error;
        place->second = fs::read_symlink(root_ / path, error).string();
    }
    return place->second;
}

} // namespace hbf::tools::doctor
