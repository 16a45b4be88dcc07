// SPDX-License-Identifier: Apache-2.0
#include "core/host/reader.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/common/read_file.hpp"
#include "core/host/parse.hpp"

namespace hbf::host {
namespace {

constexpr size_t most_problems = 100; // a broken tree must not fill the memory with complaints

std::string_view quoted_part(std::string_view text) {
    return text.substr(0, 40);
}

// mem2 before mem10: by length of runs of digits, then by text.
bool natural_less(const std::string &a, const std::string &b) {
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (std::isdigit(static_cast<unsigned char>(a[i])) && std::isdigit(static_cast<unsigned char>(b[j]))) {
            size_t i_end = i, j_end = j;
            while (i_end < a.size() && std::isdigit(static_cast<unsigned char>(a[i_end]))) ++i_end;
            while (j_end < b.size() && std::isdigit(static_cast<unsigned char>(b[j_end]))) ++j_end;
            if (i_end - i != j_end - j) return i_end - i < j_end - j;
            if (const int order = a.compare(i, i_end - i, b, j, j_end - j); order != 0) return order < 0;
            i = i_end;
            j = j_end;
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    return a.size() - i < b.size() - j;
}

} // namespace

Reader::Reader(std::filesystem::path root, std::vector<std::string> &problems)
    : root_(std::move(root)), problems_(problems) {}

void Reader::problem(const std::filesystem::path &path, const std::string &what) {
    if (problems_.size() == most_problems) problems_.push_back("more problems than are listed here");
    if (problems_.size() > most_problems) return;
    problems_.push_back(fmt::format("{}: {}", full(path).string(), what));
}

std::optional<std::string> Reader::text(const std::filesystem::path &path) {
    const auto got = read_file(full(path), most_bytes);
    if (got) return printable(trimmed(*got));
    if (got.error().code != Code::unavailable && problems_.size() <= most_problems) problems_.push_back(got.error().message);
    return std::nullopt;
}

std::optional<std::string> Reader::head(const std::filesystem::path &path, size_t bytes) {
    auto got = read_file_head(full(path), bytes);
    if (got) return std::move(*got);
    if (got.error().code != Code::unavailable && problems_.size() <= most_problems) problems_.push_back(got.error().message);
    return std::nullopt;
}

std::optional<uint64_t> Reader::number(const std::filesystem::path &path) {
    const auto got = text(path);
    if (!got) return std::nullopt;
    const auto value = parse_unsigned(*got);
    if (!value) problem(path, fmt::format("expected a number, found \"{}\"", quoted_part(*got)));
    return value;
}

std::optional<int64_t> Reader::integer(const std::filesystem::path &path) {
    const auto got = text(path);
    if (!got) return std::nullopt;
    const auto value = parse_signed(*got);
    if (!value) problem(path, fmt::format("expected a whole number, found \"{}\"", quoted_part(*got)));
    return value;
}

int Reader::node(const std::filesystem::path &path) {
    const auto value = integer(path);
    if (!value || *value == -1) return -1;
    if (*value < -1 || *value > 65535) {
        problem(path, fmt::format("{} is no NUMA node", *value));
        return -1;
    }
    return static_cast<int>(*value);
}

Setting Reader::setting(const std::filesystem::path &path) {
    Setting out;
    out.source = full(path).string();
    const auto got = read_file(full(path), most_bytes);
    if (got) {
        out.value = printable(trimmed(*got));
    } else {
        out.error = got.error().message;
        if (got.error().code != Code::unavailable && problems_.size() <= most_problems) problems_.push_back(out.error);
    }
    return out;
}

std::string Reader::link_name(const std::filesystem::path &path) {
    char target[4096];
    const ssize_t size = readlink(full(path).c_str(), target, sizeof target);
    if (size < 0) {
        if (errno != ENOENT && errno != ENOTDIR) problem(path, std::strerror(errno));
        return {};
    }
    const std::string_view text(target, static_cast<size_t>(size));
    return printable(text.substr(text.rfind('/') + 1)); // npos + 1 is 0
}

std::vector<std::string> Reader::entries(const std::filesystem::path &path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir(full(path).c_str()), closedir);
    if (!folder) {
        if (errno != ENOENT) problem(path, std::strerror(errno));
        return names;
    }
    for (;;) {
        errno = 0;
        const dirent *entry = readdir(folder.get());
        if (!entry) {
            if (errno != 0) problem(path, std::strerror(errno));
            break;
        }
        if (entry->d_name[0] == '.') continue;
        if (names.size() == most_entries) {
            problem(path, fmt::format("more than {} entries; the rest was not read", most_entries));
            break;
        }
        names.emplace_back(entry->d_name);
    }
    std::sort(names.begin(), names.end(), natural_less);
    return names;
}

bool Reader::exists(const std::filesystem::path &path) const {
    std::error_code error;
    return std::filesystem::exists(full(path), error);
}

} // namespace hbf::host
