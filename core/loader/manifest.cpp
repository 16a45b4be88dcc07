// SPDX-License-Identifier: Apache-2.0
#include "core/loader/manifest.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"
#include "core/common/toml.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

constexpr size_t longest_line = 1024, longest_text = 256, longest_list = 64;
constexpr size_t most_warnings = 16;

// Reads members of one table into fields; keeps the first problem, with its place.
class Reader {
public:
    Reader(std::string file, std::vector<std::string> &warnings) : file_(std::move(file)), warnings_(warnings) {}

    void enter(const TomlNode &table, std::string prefix) {
        table_ = &table;
        prefix_ = std::move(prefix);
        known_.clear();
    }
    void warn_unknown() {
        for (const TomlNode &item : table_->items) {
            if (std::find(known_.begin(), known_.end(), item.key) != known_.end()) continue;
            if (warnings_.size() > most_warnings) return;
            if (warnings_.size() == most_warnings) return warnings_.push_back(file_ + ": and more unknown keys");
            warnings_.push_back(fmt::format("{}: unknown key \"{}\" has no effect{}", place_in(file_, item.key_place),
                                            printable(prefix_ + item.key, 64), did_you_mean(item.key, known_)));
        }
    }

    const TomlNode *member(const char *key, TomlType type, bool required) {
        known_.emplace_back(key);
        const TomlNode *node = table_->find(key);
        if (!node) {
            if (required) problem({}, fmt::format("the key \"{}{}\" is missing", prefix_, key));
        } else if (node->type != type) {
            problem(node->place,
                    fmt::format("\"{}{}\" must be {}, not {}", prefix_, key, to_string(type), to_string(node->type)));
            node = nullptr;
        }
        return node;
    }

    std::string text(const char *key, bool required) {
        const TomlNode *node = member(key, TomlType::string, required);
        if (!node) return {};
        if (node->text.empty()) problem(node->place, fmt::format("\"{}{}\" is empty", prefix_, key));
        check_text(*node, key);
        return node->text;
    }

    std::vector<std::string> list(const char *key) {
        std::vector<std::string> out;
        const TomlNode *node = member(key, TomlType::list, false);
        if (!node) return out;
        if (node->items.size() > longest_list) {
            problem(node->place, fmt::format("\"{}{}\" has more than {} elements", prefix_, key, longest_list));
            return out;
        }
        for (const TomlNode &item : node->items) {
            if (item.type != TomlType::string || item.text.empty()) {
                problem(item.place, fmt::format("\"{}{}\" must hold strings that are not empty, not {}", prefix_, key,
                                                item.type == TomlType::string ? "an empty one" : to_string(item.type)));
                return out;
            }
            check_text(item, key);
            out.push_back(item.text);
        }
        return out;
    }

    std::optional<int64_t> integer(const char *key, int64_t least, int64_t most, bool required) {
        const TomlNode *node = member(key, TomlType::integer, required);
        if (!node) return std::nullopt;
        if (node->integer < least || node->integer > most) {
            problem(node->place, fmt::format("\"{}{}\" is {}, outside {} to {}", prefix_, key, node->integer, least, most));
        }
        return node->integer;
    }

    void problem(TomlPlace place, const std::string &what) {
        if (!error_) error_ = fmt::format("{}: {}", place_in(file_, place), what);
    }
    TomlPlace place(const char *key) const {
        const TomlNode *node = table_->find(key);
        return node ? node->place : TomlPlace{};
    }
    const std::optional<std::string> &error() const { return error_; }

private:
    void check_text(const TomlNode &node, const char *key) {
        if (node.text.size() > longest_text) {
            problem(node.place, fmt::format("\"{}{}\" is longer than {} bytes", prefix_, key, longest_text));
        } else if (printable(node.text, longest_text) != node.text) {
            problem(node.place,
                    fmt::format("\"{}{}\" has control or broken characters: {}", prefix_, key, printable(node.text, 64)));
        }
    }

    std::string file_, prefix_;
    std::vector<std::string> &warnings_;
    const TomlNode *table_ = nullptr;
    std::vector<std::string> known_;
    std::optional<std::string> error_;
};

std::optional<uint32_t> parse_abi(std::string_view text) {
    uint16_t parts[2] = {};
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view halves[2] = {text.substr(0, dot), text.substr(dot + 1)};
    for (int i = 0; i < 2; ++i) {
        const auto [end, error] = std::from_chars(halves[i].data(), halves[i].data() + halves[i].size(), parts[i]);
        if (error != std::errc{} || end != halves[i].data() + halves[i].size()) return std::nullopt;
    }
    return HBF_ABI_MAKE(parts[0], parts[1]);
}

uint32_t read_abi(Reader &reader, const char *key) {
    const std::string text = reader.text(key, true);
    const auto version = parse_abi(text);
    if (!text.empty() && !version) {
        reader.problem(reader.place(key),
                       fmt::format("\"{}\" must be MAJOR.MINOR, like \"0.1\", not \"{}\"", key, printable(text, 32)));
    }
    return version.value_or(0);
}

void check_library(Reader &reader, const std::string &library) {
    if (library.empty()) return;
    const TomlPlace place = reader.place("library");
    if (library.front() == '/') {
        reader.problem(place, fmt::format("\"library\" must be relative to the manifest, not \"{}\"", library));
        return;
    }
    for (const std::string &part : split(library, '/')) {
        if (part == ".." || part == "." || part.empty()) {
            reader.problem(
                place,
                fmt::format("\"library\" must lie beside or below the manifest, without \".\" and \"..\": \"{}\"", library));
            return;
        }
    }
}

void read_needs(Reader &reader, Manifest &manifest) {
    const TomlNode *needs = reader.member("needs", TomlType::table, false);
    reader.warn_unknown(); // of the upper table, all of whose keys have been asked for by now
    if (!needs) return;
    reader.enter(*needs, "needs.");
    manifest.pci = reader.list("pci");
    manifest.nodes = reader.list("nodes");
    manifest.driver_files = reader.list("driver_files");
    manifest.environment = reader.list("environment");
    for (const std::string &pattern : manifest.pci) {
        if (!pci_pattern_is_valid(pattern)) {
            reader.problem(reader.place("pci"),
                           fmt::format("\"{}\" is no PCI pattern: VENDOR:DEVICE in hex, * for any device, "
                                       "like \"1234:*\", and :CLASS where wanted",
                                       pattern));
        }
    }
    for (const std::string &node : manifest.nodes) {
        if (!node.starts_with("/dev/") || node.find("/..") != std::string::npos) {
            reader.problem(reader.place("nodes"), fmt::format("\"{}\" must be a path below /dev", node));
        }
    }
    reader.warn_unknown();
}

// What is no manifest at all is found before it is parsed and quoted.
std::optional<size_t> overlong_line(std::string_view text) {
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = text.find('\n');
        if (std::min(end, text.size()) > longest_line) return number;
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return std::nullopt;
}

} // namespace

bool is_plugin_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > 64 || name[0] < 'a' || name[0] > 'z') return false;
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Result<Manifest> parse_manifest(std::string_view text, const std::string &file) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail(Code::invalid, file + ": an empty manifest");
    if (const auto line = overlong_line(text)) {
        return fail(Code::invalid,
                    fmt::format("{}:{}:{}: a line of more than {} bytes", file, *line, longest_line + 1, longest_line));
    }
    const auto root = parse_toml(text, file);
    if (!root) return fail(root.error().code, printable(root.error().message));

    Manifest manifest;
    Reader reader(file, manifest.warnings);
    reader.enter(*root, "");
    reader.integer("format", 1, 1, true);
    manifest.name = reader.text("name", true);
    if (!manifest.name.empty() && !is_plugin_name(manifest.name)) {
        reader.problem(reader.place("name"),
                       fmt::format("\"{}\" is no plugin name ([a-z][a-z0-9_-]*, at most 64)", printable(manifest.name, 80)));
    }
    manifest.vendor = reader.text("vendor", true);
    manifest.version = reader.text("version", true);
    manifest.plugin_file = reader.text("library", true);
    check_library(reader, manifest.plugin_file);
    manifest.abi_min = read_abi(reader, "abi_min");
    manifest.abi_max = read_abi(reader, "abi_max");
    if (manifest.abi_min > manifest.abi_max) {
        reader.problem(reader.place("abi_min"), fmt::format("\"abi_min\" {} is above \"abi_max\" {}",
                                                            abi_text(manifest.abi_min), abi_text(manifest.abi_max)));
    }
    const std::string kind = reader.text("kind", true);
    if (!kind.empty() && kind != "device" && kind != "emulation") {
        reader.problem(reader.place("kind"),
                       fmt::format("\"kind\" must be \"device\" or \"emulation\", not \"{}\"", printable(kind, 32)));
    }
    manifest.emulation = kind == "emulation";
    manifest.priority = static_cast<int>(reader.integer("priority", -1000000, 1000000, false).value_or(0));
    manifest.arch = reader.list("arch");
    read_needs(reader, manifest);
    if (reader.error()) return fail(Code::invalid, *reader.error());
    return manifest;
}

Result<Manifest> read_manifest(const std::filesystem::path &file) {
    const auto text = read_file(file, largest_manifest);
    if (!text) return tl::unexpected(text.error());
    return parse_manifest(*text, file.string());
}

} // namespace hbf::loader
