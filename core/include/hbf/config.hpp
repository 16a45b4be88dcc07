// SPDX-License-Identifier: Apache-2.0
// Settings with their origin. Order: API over environment over user file over system file over default.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hbf/status.hpp"

namespace hbf {

enum class Origin { built_in, system_file, user_file, environment, api };
HBF_API std::string_view to_string(Origin origin) noexcept; // "built-in", "system file", ...

struct ConfigValue {
    std::string value; // scalars as text, lists joined by ','
    Origin origin = Origin::built_in;
    std::string where; // "/etc/hbf/hbf.toml:3:5", "HBF_PLUGINS", "API"; "" for a default
};

// One row of the closed table of keys. Besides them, "plugin.NAME.KEY" takes any scalar and goes to plugin NAME (KEY may be
// a group and a key: "sim.seed"); in the environment HBF_PLUGIN_<NAME>_<KEY>, HBF_PLUGIN_<NAME>__<KEY> if NAME has a "_".
struct ConfigKey {
    std::string_view name;        // "plugins.allow"
    std::string_view type;        // "list of plugin names", "list of absolute directories", "seconds"
    std::string_view standard;    // the value where nothing sets it
    std::string_view environment; // the variable that sets it
    std::string_view doc;         // one line
};
HBF_API std::span<const ConfigKey> config_keys() noexcept;

struct ConfigSources {
    std::filesystem::path root = "/"; // system file is root/etc/hbf/hbf.toml
    bool privileged = false;          // treat the process as set-uid: environment and user file are ignored, and it is said.
                                      // A process that really is set-uid, set-gid or has file capabilities always is.
    std::map<std::string, std::string> api; // key -> value, lists joined by ','
};

// A file that load() reads if it is there.
struct ConfigFile {
    Origin origin = Origin::system_file;
    std::filesystem::path path; // empty: there is no such place (no home directory)
    std::string ignored;        // why it is not looked at, "" if it is
};
HBF_API std::vector<ConfigFile> config_files(const ConfigSources &sources = {});

// Immutable once loaded; any thread may read it.
class HBF_API Config {
public:
    // INVALID, with every problem of that source on a line of its own: an unknown key (with a suggestion), a wrong type
    // (file, line, column, expected and found), a value out of range, a file that others can write, is unreadable or
    // larger than 1 MiB. A file that does not exist is none.
    static Result<Config> load(const ConfigSources &sources = {});

    // One file alone above the defaults, with the same checks save that of its owner. UNAVAILABLE if there is none.
    static Result<Config> load_file(const std::filesystem::path &path);

    const ConfigValue &get(const std::string &key) const;        // every known key has a value; others: the empty value
    std::vector<std::string> list(const std::string &key) const; // get(), split at ','; empty value: no elements
    // What is set below "plugin.NAME.": KEY and value, for that plugin's create.
    std::vector<std::pair<std::string, std::string>> plugin_options(const std::string &plugin) const;
    std::vector<std::string> plugins_with_options() const; // every NAME, sorted: unknown ones are the caller's to report
    const std::map<std::string, ConfigValue> &values() const { return values_; }
    const std::vector<std::string> &notes() const { return notes_; } // e.g. "environment ignored: set-uid"

private:
    std::map<std::string, ConfigValue> values_;
    std::vector<std::string> notes_;
};

} // namespace hbf
