// SPDX-License-Identifier: Apache-2.0
// Settings with their origin. Order: API over environment over user file over system file over default.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hbf/status.hpp"

namespace hbf {

enum class Origin { built_in, system_file, user_file, environment, api };
HBF_API std::string_view to_string(Origin origin) noexcept;

struct ConfigValue {
    std::string value; // scalars as text, lists joined by ','
    Origin origin = Origin::built_in;
    std::string where; // "/etc/hbf/hbf.toml:3:5", "HBF_PLUGINS", "--plugins"
};

struct ConfigSources {
    std::filesystem::path root = "/"; // system file is root/etc/hbf/hbf.toml
    bool privileged = false;          // set-uid or set-gid: environment and user file are ignored, and it is said
    std::map<std::string, std::string> api; // key -> value
};

// Keys are dotted: "plugins.allow", "plugins.path", "plugins.path_add", "plugins.pin", "plugins.probe_timeout_s",
// "plugin.host.storage_path", ... Keys below "plugin.NAME." go to that plugin's create as options.
class HBF_API Config {
public:
    // An unknown key is an error with a suggestion, a wrong type an error with file, line and column.
    static Result<Config> load(const ConfigSources &sources = {});

    const ConfigValue &get(const std::string &key) const; // every known key has a value
    std::vector<std::pair<std::string, std::string>> plugin_options(const std::string &plugin) const;
    const std::map<std::string, ConfigValue> &values() const { return values_; }
    const std::vector<std::string> &notes() const { return notes_; } // e.g. "environment ignored: set-uid"

private:
    std::map<std::string, ConfigValue> values_;
    std::vector<std::string> notes_;
};

} // namespace hbf
