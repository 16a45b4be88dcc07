// SPDX-License-Identifier: Apache-2.0
// One "key = value" from any source, on its way through the checks that all sources share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hbf/config.hpp"

namespace hbf::config {

enum class Kind { names, directories, seconds, boolean };
constexpr bool is_list(Kind kind) {
    return kind == Kind::names || kind == Kind::directories;
}

struct Key {
    ConfigKey facts;
    Kind kind;
};
const Key *find_key(std::string_view name) noexcept; // nullptr: not in the table
std::vector<std::string> known_names();              // for suggestions

// True for "plugin.NAME.KEY" with a NAME and KEY that can exist.
bool is_plugin_option(std::string_view key) noexcept;
bool is_plugin_name(std::string_view name) noexcept; // [a-z][a-z0-9_-]{0,63}

// Sentences without a place: `unknown key "plugins.alow" (did you mean "plugins.allow"?)`.
std::string unknown_key(const std::string &key);

// What is wrong with these elements as the value of `key` (a scalar has one element), "" if nothing.
std::string check_elements(const Key &key, const std::vector<std::string> &elements);

std::vector<std::string> split(std::string_view text, char separator); // "" gives one empty element, as it does in PATH
std::string join(const std::vector<std::string> &elements);            // by ','

struct Layer {
    std::map<std::string, ConfigValue> values;
    std::vector<std::string> problems; // each with its place
    std::vector<std::string> notes;
};

Layer read_file_layer(const std::string &text, const std::string &file, Origin origin);
Layer read_environment_layer();
Layer read_api_layer(const std::map<std::string, std::string> &api);

} // namespace hbf::config
