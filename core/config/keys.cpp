// SPDX-License-Identifier: Apache-2.0
// The closed table of keys and the checks of their values.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/config/assignment.hpp"

namespace hbf {
namespace config {
namespace {

constexpr std::string_view names = "list of plugin names", directories = "list of absolute directories";

constexpr std::array table = {
    Key{{"plugins.allow", names, "", "HBF_PLUGINS",
         "only these plugins may serve, in this order of preference; empty: every plugin found"},
        Kind::names},
    Key{{"plugins.deny", names, "", "HBF_PLUGINS",
         "these plugins may not serve, whatever plugins.allow says (in the environment: ^a,b)"},
        Kind::names},
    Key{{"plugins.path", directories, "", "HBF_PLUGIN_PATH",
         "folders searched for plugin manifests, first one first; empty: the installation's own folder"},
        Kind::directories},
    Key{{"plugins.path_add", directories, "", "HBF_PLUGIN_PATH_ADD", "folders searched before those of plugins.path"},
        Kind::directories},
    Key{{"plugins.pin", names, "", "HBF_PLUGIN_PIN",
         "plugins that must serve; one that cannot is an error, never a fallback"},
        Kind::names},
    Key{{"plugins.probe_timeout_s", "seconds", "10", "HBF_PROBE_TIMEOUT",
         "how long the probe of one plugin may take before it is stopped, 0.1 to 3600"},
        Kind::seconds},
    Key{{"plugins.allow_untrusted", "boolean", "false", "HBF_ALLOW_UNTRUSTED",
         "also use plugins that others could change, with a warning each time; ignored in a set-uid process"},
        Kind::boolean},
};

bool is_word(std::string_view text, bool dash) noexcept {
    if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
    return std::all_of(text.begin(), text.end(), [dash](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (dash && c == '-');
    });
}

std::string check_directory(const std::string &directory) {
    if (directory.empty()) return "an empty element; every folder must be an absolute path";
    if (directory[0] != '/') return fmt::format("\"{}\" is not an absolute path", directory);
    if (directory.find(',') != std::string::npos)
        return fmt::format("\"{}\": a comma cannot stand in a folder's name here", directory);
    for (const std::string &part : split(directory, '/')) {
        if (part == "." || part == "..") return fmt::format("\"{}\" has a \"{}\" in it", directory, part);
    }
    return {};
}

std::string check_seconds(const std::string &text) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return fmt::format("expected a number of seconds, found \"{}\"", text);
    }
    if (!(seconds >= 0.1 && seconds <= 3600)) return fmt::format("{} is outside 0.1 to 3600 seconds", text);
    return {};
}

} // namespace

const Key *find_key(std::string_view name) noexcept {
    const auto found = std::find_if(table.begin(), table.end(), [name](const Key &key) { return key.facts.name == name; });
    return found == table.end() ? nullptr : &*found;
}

std::vector<std::string> known_names() {
    std::vector<std::string> all;
    for (const Key &key : table) all.emplace_back(key.facts.name);
    return all;
}

bool is_plugin_name(std::string_view name) noexcept {
    return is_word(name, true);
}

// A plugin may group its options: plugin.NAME.GROUP.KEY.
bool is_plugin_option(std::string_view key) noexcept {
    constexpr std::string_view prefix = "plugin.";
    if (!key.starts_with(prefix)) return false;
    key.remove_prefix(prefix.size());
    size_t dot = key.find('.');
    if (dot == std::string_view::npos || !is_plugin_name(key.substr(0, dot))) return false;
    do {
        key.remove_prefix(dot + 1);
        dot = key.find('.');
        if (!is_word(key.substr(0, dot), false)) return false;
    } while (dot != std::string_view::npos);
    return true;
}

std::string unknown_key(const std::string &key) {
    std::string suggestion = did_you_mean(key, known_names());
    if (suggestion.empty() && key.starts_with("plugin.")) {
        suggestion = " (options of a plugin are plugin.NAME.KEY, in small letters, digits and _, groups joined by dots)";
    }
    return fmt::format("unknown key \"{}\"{}", key, suggestion);
}

std::string check_elements(const Key &key, const std::vector<std::string> &elements) {
    if (key.kind == Kind::boolean) {
        const std::string text = join(elements);
        return text == "true" || text == "false" ? "" : fmt::format("expected true or false, found \"{}\"", text);
    }
    if (key.kind == Kind::seconds) return check_seconds(elements.size() == 1 ? elements.front() : join(elements));
    std::set<std::string_view> seen;
    for (const std::string &element : elements) {
        if (key.kind == Kind::directories) {
            if (std::string problem = check_directory(element); !problem.empty()) return problem;
        } else if (!is_plugin_name(element)) {
            return fmt::format("\"{}\" is no plugin name (small letters, digits, _ and -)", element);
        }
        if (!seen.insert(element).second) return fmt::format("\"{}\" stands there twice", element);
    }
    return {};
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> elements;
    for (size_t begin = 0;;) {
        const size_t end = text.find(separator, begin);
        elements.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
        if (end == std::string_view::npos) return elements;
        begin = end + 1;
    }
}

std::string join(const std::vector<std::string> &elements) {
    return fmt::format("{}", fmt::join(elements, ","));
}

} // namespace config

std::span<const ConfigKey> config_keys() noexcept {
    static constexpr auto rows = [] {
        std::array<ConfigKey, config::table.size()> out{};
        for (size_t i = 0; i < out.size(); ++i) out[i] = config::table[i].facts;
        return out;
    }();
    return rows;
}

std::string_view to_string(Origin origin) noexcept {
    switch (origin) {
    case Origin::built_in:
        return "built-in";
    case Origin::system_file:
        return "system file";
    case Origin::user_file:
        return "user file";
    case Origin::environment:
        return "environment";
    case Origin::api:
        return "API";
    }
    return "unknown";
}

} // namespace hbf
