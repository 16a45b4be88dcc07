// SPDX-License-Identifier: Apache-2.0
#include "core/common/toml.hpp"

// toml++ asserts (or, with NDEBUG, assumes) that a key starts like one just before it checks it: text such as "[.a]" would
// end the process instead of being refused.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

namespace hbf {
namespace {

TomlPlace place_of(const toml::source_region &region) {
    return {region.begin.line, region.begin.column};
}

TomlNode convert(const toml::node &node) {
    TomlNode out;
    out.place = place_of(node.source());
    if (const auto *table = node.as_table()) {
        out.type = TomlType::table;
        for (const auto &[key, value] : *table) {
            out.items.push_back(convert(value));
            out.items.back().key = std::string(key.str());
            out.items.back().key_place = place_of(key.source());
        }
    } else if (const auto *list = node.as_array()) {
        out.type = TomlType::list;
        for (const auto &value : *list) out.items.push_back(convert(value));
    } else if (const auto *text = node.as_string()) {
        out.type = TomlType::string;
        out.text = text->get();
    } else if (const auto *integer = node.as_integer()) {
        out.type = TomlType::integer;
        out.integer = integer->get();
        out.number = static_cast<double>(out.integer);
        out.text = fmt::format("{}", out.integer);
    } else if (const auto *number = node.as_floating_point()) {
        out.type = TomlType::number;
        out.number = number->get();
        out.text = fmt::format("{}", out.number);
    } else if (const auto *boolean = node.as_boolean()) {
        out.type = TomlType::boolean;
        out.boolean = boolean->get();
        out.text = out.boolean ? "true" : "false";
    } else {
        out.type = TomlType::time;
    }
    return out;
}

} // namespace

std::string_view to_string(TomlType type) noexcept {
    switch (type) {
    case TomlType::string:
        return "a string";
    case TomlType::integer:
        return "an integer";
    case TomlType::number:
        return "a number";
    case TomlType::boolean:
        return "a boolean";
    case TomlType::time:
        return "a date or time";
    case TomlType::list:
        return "a list";
    case TomlType::table:
        return "a table";
    }
    return "an unknown type";
}

const TomlNode *TomlNode::find(std::string_view member) const noexcept {
    if (type != TomlType::table) return nullptr;
    for (const TomlNode &item : items) {
        if (item.key == member) return &item;
    }
    return nullptr;
}

std::string place_in(const std::string &file, TomlPlace place) {
    return place.line == 0 ? file : fmt::format("{}:{}:{}", file, place.line, place.column);
}

Result<TomlNode> parse_toml(std::string_view text, const std::string &file) {
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return fail(Code::invalid, fmt::format("{}: binary data, not TOML (a zero byte at offset {})", file, nul));
    }
    const toml::parse_result parsed = toml::parse(text, file);
    if (!parsed) {
        const toml::parse_error &error = parsed.error();
        return fail(Code::invalid, fmt::format("{}: {}", place_in(file, place_of(error.source())), error.description()));
    }
    return convert(parsed.table());
}

} // namespace hbf
