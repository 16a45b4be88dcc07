// SPDX-License-Identifier: Apache-2.0
// Reads the members of one TOML table, each once; what was asked for wrongly, or not at all, is an error with its place.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/common/toml.hpp"
#include "hbf/status.hpp"

namespace hbf::model {

// Thrown inside the reading of a profile, and turned into an Error at its end.
struct ProfileProblem {
    std::string message;
};

class ProfileReader {
public:
    ProfileReader(const TomlNode &table, const std::string &file, std::string what);

    void text(std::string_view key, std::string &out);
    void bytes(std::string_view key, uint64_t &out); // an integer, or "80 GiB"
    void boolean(std::string_view key, bool &out);
    template <class Int>
    void integer(std::string_view key, Int &out, int64_t least = 0) {
        int64_t most = std::numeric_limits<int64_t>::max();
        if constexpr (sizeof(Int) < sizeof(int64_t)) most = static_cast<int64_t>(std::numeric_limits<Int>::max());
        int64_t value = 0;
        if (whole(key, value, least, most)) out = static_cast<Int>(value);
    }
    template <class Value>
    void choice(std::string_view key, Value &out, std::span<const std::pair<std::string_view, Value>> known) {
        std::string word, list;
        const TomlNode *const node = member(key, TomlType::string);
        if (!node) return;
        for (const auto &[name, value] : known) {
            if (node->text == name) {
                out = value;
                return;
            }
            list += (list.empty() ? "\"" : ", \"") + std::string(name) + '"';
        }
        problem(*node, std::string(key) + " = \"" + node->text + "\": must be one of " + list);
    }
    const TomlNode *table(std::string_view key); // nullptr: not there
    const TomlNode *list(std::string_view key);
    bool has(std::string_view key) const { return table_.find(key) != nullptr; }
    void require(std::string_view key) const;
    void finish() const; // no other key is there

    [[noreturn]] void problem(const TomlNode &at, const std::string &what) const;
    const std::string &file() const { return file_; }

private:
    const TomlNode *member(std::string_view key, TomlType type);
    bool whole(std::string_view key, int64_t &out, int64_t least, int64_t most);

    const TomlNode &table_;
    const std::string &file_;
    const std::string what_; // "[host]"
    std::set<std::string, std::less<>> known_;
};

} // namespace hbf::model
