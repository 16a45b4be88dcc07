// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/profile_reader.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::model {

ProfileReader::ProfileReader(const TomlNode &table, const std::string &file, std::string what)
    : table_(table), file_(file), what_(std::move(what)) {
    if (table.type != TomlType::table) problem(table, what_ + " must be a table, is " + std::string(to_string(table.type)));
}

void ProfileReader::problem(const TomlNode &at, const std::string &what) const {
    throw ProfileProblem{place_in(file_, at.place.line ? at.place : at.key_place) + ": " + what};
}

const TomlNode *ProfileReader::member(std::string_view key, TomlType type) {
    known_.emplace(key);
    const TomlNode *const node = table_.find(key);
    if (node && node->type != type)
        problem(*node, fmt::format("{} {}: must be {}, is {}", what_, key, to_string(type), to_string(node->type)));
    return node;
}

const TomlNode *ProfileReader::table(std::string_view key) {
    return member(key, TomlType::table);
}

const TomlNode *ProfileReader::list(std::string_view key) {
    return member(key, TomlType::list);
}

void ProfileReader::text(std::string_view key, std::string &out) {
    if (const TomlNode *const node = member(key, TomlType::string)) out = node->text;
}

void ProfileReader::boolean(std::string_view key, bool &out) {
    if (const TomlNode *const node = member(key, TomlType::boolean)) out = node->boolean;
}

bool ProfileReader::whole(std::string_view key, int64_t &out, int64_t least, int64_t most) {
    const TomlNode *const node = member(key, TomlType::integer);
    if (!node) return false;
    if (node->integer < least || node->integer > most)
        problem(*node, fmt::format("{} {} = {}: must be from {} to {}", what_, key, node->integer, least, most));
    out = node->integer;
    return true;
}

void ProfileReader::bytes(std::string_view key, uint64_t &out) {
    known_.emplace(key);
    const TomlNode *const node = table_.find(key);
    if (!node) return;
    if (node->type == TomlType::integer && node->integer >= 0) {
        out = static_cast<uint64_t>(node->integer);
        return;
    }
    if (node->type != TomlType::string) problem(*node, fmt::format("{} {}: must be a size, such as \"80 GiB\"", what_, key));
    const auto size = parse_size(node->text);
    if (!size) problem(*node, fmt::format("{} {}: {}", what_, key, size.error()));
    out = *size;
}

void ProfileReader::require(std::string_view key) const {
    if (!has(key)) problem(table_, fmt::format("{} has no {}", what_, key));
}

void ProfileReader::finish() const {
    for (const TomlNode &item : table_.items) {
        if (known_.contains(item.key)) continue;
        const std::vector<std::string> known(known_.begin(), known_.end());
        throw ProfileProblem{fmt::format("{}: {} has no key \"{}\"{}", place_in(file_, item.key_place), what_, item.key,
                                         did_you_mean(item.key, known))};
    }
}

} // namespace hbf::model
