// SPDX-License-Identifier: Apache-2.0
// What a TOML file sets.
#include <fmt/format.h>

#include "core/common/toml.hpp"
#include "core/config/assignment.hpp"

namespace hbf::config {
namespace {

class FileReader {
public:
    FileReader(const std::string &file, Origin origin) : file_(file), origin_(origin) {}

    void walk(const TomlNode &table, const std::string &prefix) {
        for (const TomlNode &item : table.items) {
            const std::string key = prefix + item.key;
            if (const Key *known = find_key(key)) {
                set_known(*known, item);
            } else if (is_plugin_option(key)) {
                set_option(key, item);
            } else if (is_section(key)) {
                if (item.type == TomlType::table) {
                    walk(item, key + ".");
                } else {
                    wrong_type(key, "a table", item);
                }
            } else {
                problem(item.key_place, unknown_key(key));
            }
        }
    }

    Layer layer;

private:
    static bool is_section(const std::string &key) {
        return key == "plugins" || key == "plugin" || (key.starts_with("plugin.") && is_plugin_name(key.substr(7)));
    }

    void set_known(const Key &key, const TomlNode &item) {
        const std::string name(key.facts.name);
        std::vector<std::string> elements;
        if (key.kind == Kind::seconds) {
            if (item.type != TomlType::integer && item.type != TomlType::number) return wrong_type(name, "a number", item);
            elements.push_back(item.text);
        } else if (key.kind == Kind::boolean) {
            if (item.type != TomlType::boolean) return wrong_type(name, "true or false", item);
            elements.push_back(item.text);
        } else {
            if (item.type != TomlType::list) return wrong_type(name, "a list of strings", item);
            for (const TomlNode &element : item.items) {
                if (element.type != TomlType::string) return wrong_type(name, "a string in the list", element);
                elements.push_back(element.text);
            }
        }
        if (std::string wrong = check_elements(key, elements); !wrong.empty())
            return problem(item.place, name + ": " + wrong);
        set(name, join(elements), item);
    }

    void set_option(const std::string &key, const TomlNode &item) {
        if (item.type == TomlType::table && !item.items.empty()) return walk(item, key + "."); // a group of options
        if (item.type == TomlType::list || item.type == TomlType::table || item.type == TomlType::time) {
            return wrong_type(key, "a string, a number or a boolean", item);
        }
        set(key, item.text, item);
    }

    void set(const std::string &key, const std::string &value, const TomlNode &item) {
        layer.values[key] = {value, origin_, place_in(file_, item.key_place)};
    }
    void wrong_type(const std::string &key, std::string_view expected, const TomlNode &item) {
        // A table made by a [header] has no value of its own: its key says where it is.
        problem(item.place.line != 0 ? item.place : item.key_place,
                fmt::format("{}: expected {}, found {}", key, expected, to_string(item.type)));
    }
    void problem(TomlPlace place, const std::string &what) {
        layer.problems.push_back(fmt::format("{}: {}", place_in(file_, place), what));
    }

    const std::string &file_;
    Origin origin_;
};

} // namespace

Layer read_file_layer(const std::string &text, const std::string &file, Origin origin) {
    FileReader reader(file, origin);
    const auto tree = parse_toml(text, file);
    if (tree) {
        reader.walk(*tree, "");
    } else {
        reader.layer.problems.push_back(tree.error().message);
    }
    return std::move(reader.layer);
}

} // namespace hbf::config
