// SPDX-License-Identifier: Apache-2.0
// What the environment and the API set: values that arrive as text.
#include <algorithm>

#include <fmt/format.h>

#include "core/common/environment.hpp"
#include "core/common/suggest.hpp"
#include "core/config/assignment.hpp"

namespace hbf::config {
namespace {

void set(Layer &layer, const Key &key, const std::vector<std::string> &elements, Origin origin, const std::string &where) {
    if (std::string wrong = check_elements(key, elements); !wrong.empty()) {
        layer.problems.push_back(fmt::format("{}: {}", where, wrong));
    } else {
        layer.values[std::string(key.facts.name)] = {join(elements), origin, where};
    }
}

// HBF_PLUGINS is both lists at once: "a,b" allows and orders, "^a,b" denies. It replaces both, so that what it says is
// what holds.
void set_plugins(Layer &layer, const std::string &name, const std::string &value) {
    const bool deny = value.starts_with('^');
    if (value.find('^', 1) != std::string::npos) {
        layer.problems.push_back(
            fmt::format("{}: \"{}\" mixes both forms; write \"a,b\" to allow and order, or \"^a,b\" to deny", name, value));
        return;
    }
    set(layer, *find_key(deny ? "plugins.deny" : "plugins.allow"), split(deny ? value.substr(1) : value, ','),
        Origin::environment, name);
    layer.values[deny ? "plugins.allow" : "plugins.deny"] = {"", Origin::environment, name};
}

std::vector<std::string> known_variables() {
    std::vector<std::string> all;
    for (const ConfigKey &key : config_keys()) all.emplace_back(key.environment);
    return all;
}

// "HBF_PLUGIN_HOST_STORAGE_PATH" -> "plugin.host.storage_path"; "" if it cannot be one.
std::string option_key(std::string_view variable) {
    constexpr std::string_view prefix = "HBF_PLUGIN_";
    if (!variable.starts_with(prefix)) return {};
    variable.remove_prefix(prefix.size());
    size_t end = variable.find("__"), begin = end + 2;
    if (end == std::string_view::npos) {
        end = variable.find('_');
        begin = end + 1;
    }
    if (end == std::string_view::npos) return {};
    std::string key = "plugin." + std::string(variable.substr(0, end)) + "." + std::string(variable.substr(begin));
    // A variable in small letters is some other program's.
    if (std::any_of(key.begin() + 7, key.end(), [](char c) { return c >= 'a' && c <= 'z'; })) return {};
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return is_plugin_option(key) ? key : std::string();
}

} // namespace

Layer read_environment_layer() {
    Layer layer;
    for (const auto &[name, value] : environment_with_prefix("HBF_")) {
        const auto keys = config_keys();
        const auto row =
            std::find_if(keys.begin(), keys.end(), [&n = name](const ConfigKey &key) { return key.environment == n; });
        if (row == keys.end()) {
            if (std::string key = option_key(name); !key.empty()) {
                layer.values[key] = {value, Origin::environment, name};
            } else if (std::string hint = did_you_mean(name, known_variables());
                       !hint.empty() || name.starts_with("HBF_PLUGIN")) {
                layer.notes.push_back(fmt::format("environment variable {} is not known and has no effect{}", name, hint));
            }
        } else if (value.empty()) {
            layer.problems.push_back(fmt::format("{}: is set but empty; unset it, or give it a value", name));
        } else if (name == "HBF_PLUGINS") {
            set_plugins(layer, name, value);
        } else {
            const Key &key = *find_key(row->name);
            set(layer, key, split(value, key.kind == Kind::directories ? ':' : ','), Origin::environment, name);
        }
    }
    return layer;
}

Layer read_api_layer(const std::map<std::string, std::string> &api) {
    Layer layer;
    for (const auto &[name, value] : api) {
        if (const Key *key = find_key(name)) {
            const bool empty_list = value.empty() && is_list(key->kind);
            const auto elements = empty_list ? std::vector<std::string>{} : split(value, ',');
            if (std::string wrong = check_elements(*key, elements); !wrong.empty()) {
                layer.problems.push_back(fmt::format("API: {}: {}", name, wrong));
            } else {
                layer.values[name] = {value, Origin::api, "API"};
            }
        } else if (is_plugin_option(name)) {
            layer.values[name] = {value, Origin::api, "API"};
        } else {
            layer.problems.push_back("API: " + unknown_key(name));
        }
    }
    return layer;
}

} // namespace hbf::config
