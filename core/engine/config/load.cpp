// SPDX-License-Identifier: Apache-2.0
// h3.toml, the environment and the API, laid over each other.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/common/environment.hpp"
#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"
#include "core/common/toml.hpp"
#include "core/engine/config/keys.hpp"

namespace hbf::kv {
namespace {

constexpr size_t largest_file = size_t{1} << 20;

class Loader {
public:
    Loader() {
        for (const config::Key &key : config::table())
            loaded.values[std::string(key.facts.name)] = {std::string(key.facts.standard), Origin::built_in, ""};
    }

    Result<> file(const std::filesystem::path &path, Origin origin, bool must_be_there) {
        auto text = read_file(path, largest_file);
        if (!text) {
            if (!must_be_there && text.error().code == Code::unavailable) return {};
            return tl::unexpected<Error>(text.error());
        }
        const std::string name = path.string();
        auto tree = parse_toml(*text, name);
        if (!tree) return tl::unexpected<Error>(tree.error());
        for (const TomlNode &section : tree->items) {
            if (!known_section(section.key)) {
                problem(name, section.key_place, config::unknown_key(section.key));
            } else if (section.type != TomlType::table) {
                problem(name, section.key_place,
                        fmt::format("{}: expected a table, found {}", section.key, to_string(section.type)));
            } else {
                for (const TomlNode &item : section.items) one(name, section.key + "." + item.key, item, origin);
            }
        }
        return finish();
    }

    Result<> environment_layer() {
        for (const auto &[name, value] : environment_with_prefix("H3_")) {
            const auto &keys = config::table();
            const auto found =
                std::find_if(keys.begin(), keys.end(), [&n = name](const auto &key) { return key.facts.environment == n; });
            if (found == keys.end()) {
                std::vector<std::string> known;
                for (const auto &key : keys) known.emplace_back(key.facts.environment);
                loaded.notes.push_back(fmt::format("environment variable {} is not known and has no effect{}", name,
                                                   did_you_mean(name, known)));
            } else {
                set(*found, value, Origin::environment, name, name);
            }
        }
        return finish();
    }

    Result<> api(const std::map<std::string, std::string> &values) {
        for (const auto &[name, value] : values) {
            if (const config::Key *key = config::find_key(name))
                set(*key, value, Origin::api, "API", "API: " + name);
            else
                problems_.push_back("API: " + config::unknown_key(name));
        }
        return finish();
    }

    Result<LoadedSettings> done() {
        problems_ = config::judge(loaded.settings);
        for (std::string &problem : problems_) { // where the key that is refused was set
            const auto &value = loaded.values[problem.substr(0, problem.find(' '))];
            if (!value.where.empty()) problem = value.where + ": " + problem;
        }
        if (auto fine = finish(); !fine) return tl::unexpected<Error>(fine.error());
        return std::move(loaded);
    }

    LoadedSettings loaded;

private:
    static bool known_section(const std::string &name) {
        return std::any_of(config::table().begin(), config::table().end(),
                           [&](const auto &key) { return key.facts.name.starts_with(name + "."); });
    }

    void one(const std::string &file, const std::string &name, const TomlNode &item, Origin origin) {
        const config::Key *key = config::find_key(name);
        if (key == nullptr) return problem(file, item.key_place, config::unknown_key(name));
        const bool word = item.type == TomlType::string,
                   numeric = item.type == TomlType::integer || item.type == TomlType::number;
        const bool fits = key->kind == config::Kind::automatic                                   ? word || numeric
                          : key->kind == config::Kind::word || key->kind == config::Kind::folder ? word
                          : key->kind == config::Kind::whole ? item.type == TomlType::integer
                                                             : numeric;
        if (!fits)
            return problem(file, item.place.line != 0 ? item.place : item.key_place,
                           fmt::format("{}: expected a {}, found {}", name, key->facts.type, to_string(item.type)));
        set(*key, item.text, origin, place_in(file, item.key_place), place_in(file, item.place) + ": " + name);
    }

    void set(const config::Key &key, const std::string &text, Origin origin, const std::string &where,
             const std::string &title) {
        if (std::string wrong = config::assign(key, text, loaded.settings); !wrong.empty())
            problems_.push_back(fmt::format("{}: {}", title, wrong));
        else
            loaded.values[std::string(key.facts.name)] = {text, origin, where};
    }
    void problem(const std::string &file, TomlPlace place, const std::string &what) {
        problems_.push_back(fmt::format("{}: {}", place_in(file, place), what));
    }
    Result<> finish() const {
        if (problems_.empty()) return {};
        return fail(Code::invalid, fmt::format("{}", fmt::join(problems_, "\n")));
    }

    std::vector<std::string> problems_;
};

// $XDG_CONFIG_HOME/hbf/h3.toml, else ~/.config/hbf/h3.toml; empty: neither is an absolute path.
std::filesystem::path user_file() {
    if (const auto folder = environment("XDG_CONFIG_HOME"); folder && folder->starts_with('/'))
        return std::filesystem::path(*folder) / "hbf" / "h3.toml";
    if (const auto home = environment("HOME"); home && home->starts_with('/'))
        return std::filesystem::path(*home) / ".config" / "hbf" / "h3.toml";
    return {};
}

} // namespace

Result<LoadedSettings> load_settings(const ConfigSources &sources) {
    Loader loader;
    if (auto fine = loader.file(sources.root / "etc" / "hbf" / "h3.toml", Origin::system_file, false); !fine)
        return tl::unexpected<Error>(fine.error());
    if (sources.privileged || process_is_privileged()) {
        loader.loaded.notes.push_back("environment and user configuration file ignored: this process is set-uid, set-gid or "
                                      "has file capabilities");
    } else {
        if (const auto file = user_file(); !file.empty())
            if (auto fine = loader.file(file, Origin::user_file, false); !fine) return tl::unexpected<Error>(fine.error());
        if (auto fine = loader.environment_layer(); !fine) return tl::unexpected<Error>(fine.error());
    }
    if (auto fine = loader.api(sources.api); !fine) return tl::unexpected<Error>(fine.error());
    return loader.done();
}

Result<LoadedSettings> load_settings_file(const std::filesystem::path &path) {
    Loader loader;
    if (auto fine = loader.file(path, Origin::user_file, true); !fine) return tl::unexpected<Error>(fine.error());
    return loader.done();
}

} // namespace hbf::kv
