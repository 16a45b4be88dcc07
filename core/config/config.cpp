// SPDX-License-Identifier: Apache-2.0
#include "hbf/config.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/ownership.hpp"
#include "core/common/read_file.hpp"
#include "core/config/assignment.hpp"

namespace hbf {
namespace {

constexpr size_t largest_file = size_t{1} << 20;
constexpr std::string_view set_uid = "this process is set-uid, set-gid or has file capabilities";

// Layers come lowest first, so later ones win.
Result<> apply(std::map<std::string, ConfigValue> &values, std::vector<std::string> &notes, config::Layer layer) {
    constexpr size_t most_shown = 20; // the file may be something else altogether
    if (layer.problems.size() > most_shown) {
        const size_t more = layer.problems.size() - most_shown;
        layer.problems.resize(most_shown);
        layer.problems.push_back(fmt::format("and {} more mistakes", more));
    }
    if (!layer.problems.empty()) return fail(Code::invalid, fmt::format("{}", fmt::join(layer.problems, "\n")));
    for (auto &[key, value] : layer.values) values[key] = std::move(value);
    notes.insert(notes.end(), layer.notes.begin(), layer.notes.end());
    return {};
}

std::map<std::string, ConfigValue> defaults() {
    std::map<std::string, ConfigValue> values;
    for (const ConfigKey &key : config_keys())
        values[std::string(key.name)] = {std::string(key.standard), Origin::built_in, ""};
    return values;
}

Result<config::Layer> read_layer(const ConfigFile &file, bool check_owner) {
    struct stat facts = {};
    const auto text = read_file(file.path, largest_file, &facts);
    if (!text) return tl::unexpected<Error>(text.error());
    if (check_owner) {
        if (const std::string reason = changeable_by_others(facts, geteuid()); !reason.empty()) {
            return fail(
                Code::permission,
                fmt::format(
                    "{}: refused: {}; it steers which code is loaded, so make it yours alone: chown it and chmod go-w",
                    file.path.string(), reason));
        }
    }
    return config::read_file_layer(*text, file.path.string(), file.origin);
}

// su and setpriv may keep the HOME of somebody else, who lets nobody in: then there is no file of this user's to look at.
// In a folder of the user's own a file that cannot be reached stays an error.
std::string kept_out_by(const std::filesystem::path &home, const std::filesystem::path &file) {
    struct stat facts = {};
    if (stat(file.c_str(), &facts) == 0 || errno != EACCES) return {};
    if (stat(home.c_str(), &facts) != 0 || facts.st_uid == geteuid()) return {};
    return fmt::format("{} belongs to uid {}, who lets nobody in; remedy: set HOME to this user's own (uid {})",
                       home.string(), facts.st_uid, geteuid());
}

ConfigFile user_file() {
    ConfigFile file{Origin::user_file, {}, {}};
    const auto xdg = environment("XDG_CONFIG_HOME");
    const auto home = environment("HOME");
    if (xdg && xdg->starts_with('/')) {
        file.path = std::filesystem::path(*xdg) / "hbf" / "hbf.toml";
        file.ignored = kept_out_by(*xdg, file.path);
    } else if (home && home->starts_with('/')) {
        file.path = std::filesystem::path(*home) / ".config" / "hbf" / "hbf.toml";
        file.ignored = kept_out_by(*home, file.path);
    } else {
        file.ignored = "neither XDG_CONFIG_HOME nor HOME is an absolute path";
    }
    return file;
}

} // namespace

std::vector<ConfigFile> config_files(const ConfigSources &sources) {
    std::vector<ConfigFile> files = {{Origin::system_file, sources.root / "etc" / "hbf" / "hbf.toml", {}}};
    if (sources.privileged || process_is_privileged()) {
        files.push_back({Origin::user_file, {}, std::string(set_uid)});
    } else {
        files.push_back(user_file());
    }
    return files;
}

Result<Config> Config::load(const ConfigSources &sources) {
    Config config;
    config.values_ = defaults();
    for (const ConfigFile &file : config_files(sources)) {
        if (!file.ignored.empty()) {
            if (!file.path.empty())
                config.notes_.push_back(fmt::format("{} is not looked at: {}", file.path.string(), file.ignored));
            continue;
        }
        auto layer = read_layer(file, true);
        // A link to nowhere is not "no file": somebody meant something by it.
        if (std::error_code none;
            !layer && layer.error().code == Code::unavailable && !std::filesystem::is_symlink(file.path, none)) {
            continue;
        }
        if (!layer) return tl::unexpected<Error>(layer.error());
        if (auto applied = apply(config.values_, config.notes_, std::move(*layer)); !applied) {
            return tl::unexpected<Error>(applied.error());
        }
    }
    if (sources.privileged || process_is_privileged()) {
        config.notes_.push_back(fmt::format("environment and user configuration file ignored: {}", set_uid));
    } else if (auto applied = apply(config.values_, config.notes_, config::read_environment_layer()); !applied) {
        return tl::unexpected<Error>(applied.error());
    }
    if (auto applied = apply(config.values_, config.notes_, config::read_api_layer(sources.api)); !applied) {
        return tl::unexpected<Error>(applied.error());
    }
    return config;
}

Result<Config> Config::load_file(const std::filesystem::path &path) {
    Config config;
    config.values_ = defaults();
    auto layer = read_layer({Origin::user_file, path, {}}, false);
    if (!layer) return tl::unexpected<Error>(layer.error());
    if (auto applied = apply(config.values_, config.notes_, std::move(*layer)); !applied) {
        return tl::unexpected<Error>(applied.error());
    }
    return config;
}

const ConfigValue &Config::get(const std::string &key) const {
    static const ConfigValue none;
    const auto found = values_.find(key);
    return found == values_.end() ? none : found->second;
}

std::vector<std::string> Config::list(const std::string &key) const {
    const std::string &value = get(key).value;
    return value.empty() ? std::vector<std::string>{} : config::split(value, ',');
}

std::vector<std::pair<std::string, std::string>> Config::plugin_options(const std::string &plugin) const {
    std::vector<std::pair<std::string, std::string>> options;
    const std::string prefix = "plugin." + plugin + ".";
    for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix); ++it) {
        options.emplace_back(it->first.substr(prefix.size()), it->second.value);
    }
    return options;
}

std::vector<std::string> Config::plugins_with_options() const {
    std::vector<std::string> names;
    for (auto it = values_.lower_bound("plugin."); it != values_.end() && it->first.starts_with("plugin."); ++it) {
        const std::string name = it->first.substr(7, it->first.find('.', 7) - 7);
        if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
}

} // namespace hbf
