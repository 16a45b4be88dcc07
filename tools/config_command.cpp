// SPDX-License-Identifier: Apache-2.0
// hbf config: which setting holds, where it comes from, and whether a file is right.
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "core/output/table.hpp"
#include "hbf/config.hpp"
#include "hbf/kv.hpp"
#include "tools/commands.hpp"

namespace hbf::tools {
namespace {

int report(const Error &error, Exit code) {
    print_error(error.message);
    return static_cast<int>(code);
}

std::string shown(const std::string &value) {
    return value.empty() ? "\"\"" : value;
}

// "present", "absent", or why it is not looked at.
std::string state_of(const ConfigFile &file) {
    if (!file.ignored.empty()) return "ignored: " + file.ignored;
    std::error_code error;
    const auto status = std::filesystem::symlink_status(file.path, error);
    if (status.type() == std::filesystem::file_type::not_found) return "absent";
    return error ? error.message() : "present";
}

bool is_list(const std::string &name) {
    for (const ConfigKey &key : config_keys()) {
        if (key.name == name) return key.type.starts_with("list");
    }
    return false;
}

Json files_json() {
    Json files = Json::array();
    for (const ConfigFile &file : config_files()) {
        files.push(
            Json::object({{"origin", to_string(file.origin)}, {"path", file.path.string()}, {"state", state_of(file)}}));
    }
    return files;
}

int show(bool origin, bool json) {
    const auto config = Config::load();
    if (!config) return report(config.error(), Exit::error);
    if (json) {
        Json values = Json::array();
        for (const auto &[key, value] : config->values()) {
            values.push(Json::object({{"key", key},
                                      {"value", is_list(key) ? Json::array_of(config->list(key)) : Json(value.value)},
                                      {"origin", to_string(value.origin)},
                                      {"where", value.where}}));
        }
        print(Json::object({{"schema_version", 1},
                            {"values", values},
                            {"files", files_json()},
                            {"notes", Json::array_of(config->notes())}})
                  .dump());
        return static_cast<int>(Exit::pass);
    }
    std::vector<std::vector<Cell>> rows;
    for (const auto &[key, value] : config->values()) {
        const bool standard = value.origin == Origin::built_in;
        const std::string where = value.where.empty() ? "" : value.where;
        const Colour colour = standard ? Colour::dim : Colour::none;
        if (origin)
            rows.push_back({{key, colour},
                            {shown(value.value), colour},
                            {std::string(to_string(value.origin)), colour},
                            {where, colour}});
        else
            rows.push_back({{key, colour}, {shown(value.value), colour}});
    }
    print(format_table(origin ? std::vector<std::string>{"KEY", "VALUE", "ORIGIN", "WHERE"}
                              : std::vector<std::string>{"KEY", "VALUE"},
                       rows));
    for (const std::string &note : config->notes()) print_error("note: " + note);
    return static_cast<int>(Exit::pass);
}

int list_keys(bool json) {
    if (json) {
        Json keys = Json::array();
        for (const ConfigKey &key : config_keys()) {
            keys.push(Json::object({{"key", key.name},
                                    {"type", key.type},
                                    {"default", key.standard},
                                    {"environment", key.environment},
                                    {"doc", key.doc}}));
        }
        print(Json::object({{"schema_version", 1}, {"keys", keys}}).dump());
        return static_cast<int>(Exit::pass);
    }
    for (const ConfigKey &key : config_keys()) {
        print(fmt::format("{}\n    {}\n    type: {}   default: {}   environment: {}\n", key.name, key.doc, key.type,
                          key.standard.empty() ? "(empty)" : key.standard, key.environment));
    }
    print("plugin.NAME.KEY\n    handed to plugin NAME, which says what it knows\n"
          "    type: string, number or boolean   environment: HBF_PLUGIN_<NAME>_<KEY>"
          " (HBF_PLUGIN_<NAME>__<KEY> where NAME has an underscore)\n");
    return static_cast<int>(Exit::pass);
}

int show_paths(bool json) {
    if (json) {
        print(Json::object({{"schema_version", 1}, {"files", files_json()}}).dump());
        return static_cast<int>(Exit::pass);
    }
    std::vector<std::vector<Cell>> rows;
    for (const ConfigFile &file : config_files()) {
        rows.push_back(
            {std::string(to_string(file.origin)), file.path.empty() ? "(none)" : file.path.string(), state_of(file)});
    }
    print(format_table({"ORIGIN", "FILE", "STATE"}, rows));
    return static_cast<int>(Exit::pass);
}

// The values of a file: of h3.toml, by its name, or of hbf.toml.
Result<std::map<std::string, ConfigValue>> values_of(const std::filesystem::path &file) {
    if (file.filename().string().ends_with("h3.toml")) {
        auto loaded = kv::load_settings_file(file);
        if (!loaded) return tl::unexpected<Error>(std::move(loaded.error()));
        return std::move(loaded->values);
    }
    auto config = Config::load_file(file);
    if (!config) return tl::unexpected<Error>(std::move(config.error()));
    return config->values();
}

int check(const std::string &file, bool json) {
    const auto config = values_of(file);
    // A file with mistakes is a failed check; one that cannot be read is none at all.
    if (!config && config.error().code != Code::invalid) return report(config.error(), Exit::error);
    size_t set = 0;
    if (config)
        for (const auto &[key, value] : *config) set += value.origin == Origin::built_in ? 0 : 1;
    const Exit exit = config ? Exit::pass : Exit::fail;
    if (json) {
        Json mistakes = Json::array();
        std::istringstream lines(config ? "" : config.error().message);
        for (std::string line; std::getline(lines, line);) mistakes.push(line);
        print(Json::object({{"schema_version", 1},
                            {"file", file},
                            {"valid", config.has_value()},
                            {"keys_set", config ? Json(set) : Json()},
                            {"mistakes", mistakes}})
                  .dump());
        return static_cast<int>(exit);
    }
    if (!config) return report(config.error(), exit);
    print(fmt::format("{}: no mistake found, {} key{} set\n", file, set, set == 1 ? "" : "s"));
    return static_cast<int>(exit);
}

struct Flags {
    bool origin = false, json = false;
    std::string file;
};
using Shared = std::shared_ptr<Flags>; // by whichever child runs

Option json_option(const Shared &flags) {
    return {"--json", &flags->json, "", "one JSON document on stdout"};
}

Command child(const char *name, const char *summary, const char *examples) {
    Command command;
    command.name = name;
    command.summary = summary;
    command.examples = examples;
    return command;
}

Command show_command(const Shared &flags) {
    Command command = child("show", "the settings that hold",
                            "  hbf config show\n"
                            "  hbf config show --origin                  and the file, line or variable each comes from\n"
                            "  HBF_PLUGINS=host hbf config show --json   what a variable changes, for programs\n");
    command.options = {{"--origin", &flags->origin, "", "say where each comes from"}, json_option(flags)};
    command.exits = {{Exit::error, "a file or variable has a mistake: nothing holds"}};
    command.run = [flags] { return show(flags->origin, flags->json); };
    return command;
}

Command list_command(const Shared &flags) {
    Command command = child("list", "every key with its type, default and meaning", "  hbf config list\n");
    command.options = {json_option(flags)};
    command.run = [flags] { return list_keys(flags->json); };
    return command;
}

Command path_command(const Shared &flags) {
    Command command = child("path", "the files that are read", "  hbf config path\n");
    command.options = {json_option(flags)};
    command.run = [flags] { return show_paths(flags->json); };
    return command;
}

Command check_command(const Shared &flags) {
    Command command = child("check", "check one file without using it",
                            "  hbf config check my.toml          unknown keys and wrong types, with their lines\n"
                            "  hbf config check h3.toml          settings of the KV cache: by its name, also my-h3.toml\n"
                            "  hbf config check my.toml --json   the same for programs\n");
    command.options = {{"FILE", &flags->file, "FILE", "configuration file (TOML)", true}, json_option(flags)};
    command.exits = {
        {Exit::pass, "no mistake found"}, {Exit::fail, "the file has mistakes"}, {Exit::error, "the file cannot be read"}};
    command.run = [flags] { return check(flags->file, flags->json); };
    return command;
}

} // namespace

Command config_command() {
    auto flags = std::make_shared<Flags>();
    Command config;
    config.name = "config";
    config.summary = "show settings, where each comes from, and check a configuration file";
    config.description = "Order: API over environment over user file over system file over default.";
    config.examples = "  hbf config show --origin     every setting and the file, line or variable it comes from\n"
                      "  hbf config check my.toml     finds unknown keys and wrong types before they matter";
    config.group = "Set up";
    config.children = {show_command(flags), list_command(flags), path_command(flags), check_command(flags)};
    return config;
}

} // namespace hbf::tools
