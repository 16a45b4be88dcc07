// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/known_bad.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"
#include "core/common/toml.hpp"
#include "core/common/version_range.hpp"
#include "tools/doctor/vendors.hpp"

namespace hbf::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_bytes = 1 << 20;
const std::vector<std::string> keys = {"id",     "component", "versions", "model",  "devices", "verdict",
                                       "status", "symptom",   "remedy",   "source", "checked"};
constexpr std::string_view kernel = "kernel", firmware = "nvme-firmware";

std::vector<std::string> component_names() {
    std::vector<std::string> out = {std::string(kernel), std::string(firmware)};
    for (const Component &one : components())
        if (std::find(out.begin(), out.end(), one.id) == out.end()) out.emplace_back(one.id);
    return out;
}

// Reads one [[bad]] table; the first objection ends it.
class Entry {
public:
    Entry(const TomlNode &table, const std::string &file) : table_(table), file_(file) {}

    tl::expected<BadVersion, std::string> read() {
        BadVersion out;
        for (const TomlNode &member : table_.items)
            if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
                object(member.key_place, fmt::format("unknown key '{}'{}", member.key, did_you_mean(member.key, keys)));
        out.id = text("id");
        out.component = text("component");
        out.versions = text("versions");
        out.symptom = text("symptom");
        out.remedy = text("remedy");
        out.source = text("source");
        out.checked = text("checked", TomlType::time);
        const std::string verdict = text("verdict"), status = text("status");
        out.verdict = verdict == "fail" ? Verdict::fail : Verdict::warn;
        out.proven = status == "proven";
        choice("verdict", verdict, {"warn", "fail"});
        choice("status", status, {"proven", "unconfirmed"});
        choice("component", out.component, component_names());
        if (table_.find("model")) out.model = text("model");
        devices(out);
        judge(out);
        if (!wrong_.empty()) return tl::unexpected(wrong_);
        return out;
    }

private:
    void object(TomlPlace place, const std::string &what) {
        if (wrong_.empty()) wrong_ = fmt::format("{}: {}", place_in(file_, place), what);
    }
    TomlPlace place_of(const char *key) const {
        const TomlNode *node = table_.find(key);
        return node ? node->place : table_.place;
    }

    std::string text(const char *key, TomlType type = TomlType::string) {
        const TomlNode *node = table_.find(key);
        if (!node)
            object(table_.place, fmt::format("'{}' is missing", key));
        else if (node->type != type)
            object(node->place, fmt::format("'{}' is {}, not {}", key, to_string(node->type), to_string(type)));
        else if (node->text.empty())
            object(node->place, fmt::format("'{}' is empty", key));
        else
            return node->text;
        return {};
    }

    void choice(const char *key, const std::string &value, const std::vector<std::string> &known) {
        if (std::find(known.begin(), known.end(), value) == known.end())
            object(place_of(key),
                   fmt::format("{} = '{}' is none of {}{}", key, value, fmt::join(known, ", "), did_you_mean(value, known)));
    }

    void devices(BadVersion &out) {
        const TomlNode *node = table_.find("devices");
        if (!node) return;
        if (node->type != TomlType::integer || node->integer < 1 || node->integer > 1024)
            return object(node->place, "'devices' is no whole number in 1..1024");
        out.devices = static_cast<uint64_t>(node->integer);
    }

    void judge(const BadVersion &out) {
        const bool drive = out.component == firmware;
        if (drive == out.model.empty())
            object(place_of("component"), drive ? "'model' is missing" : "'model' belongs to nvme-firmware only");
        if (!drive && !is_version_range(out.versions))
            object(place_of("versions"),
                   fmt::format("versions = '{}' is no list of comparisons like '>=535.54 <550'", out.versions));
        if (!out.source.starts_with("https://"))
            object(place_of("source"), fmt::format("source = '{}' is no https address", out.source));
        if (!out.proven && out.verdict == Verdict::fail)
            object(place_of("verdict"), "what is unconfirmed fails no machine: verdict = 'warn'");
    }

    const TomlNode &table_;
    const std::string &file_;
    std::string wrong_;
};

// Beside the running program: installed PREFIX/bin and PREFIX/share/hbf, in the build tools/ and tools/doctor/.
fs::path own_list() {
    std::error_code error;
    const fs::path folder = fs::canonical("/proc/self/exe", error).parent_path();
    fs::path built = folder / "doctor" / "known_bad.toml";
    if (fs::is_regular_file(built, error)) return built;
    return folder.parent_path() / "share" / "hbf" / "known_bad.toml";
}

} // namespace

tl::expected<KnownBad, std::string> parse_known_bad(std::string_view text, const std::string &file) {
    const auto document = parse_toml(text, file);
    if (!document) return tl::unexpected(document.error().message);
    KnownBad out;
    out.file = file;
    std::set<std::string> ids;
    for (const TomlNode &member : document->items) {
        if (member.key != "bad" || member.type != TomlType::list)
            return tl::unexpected(fmt::format("{}: '{}' is not known here; entries are written as [[bad]] tables",
                                              place_in(file, member.key_place), member.key));
        for (const TomlNode &table : member.items) {
            if (table.type != TomlType::table)
                return tl::unexpected(
                    fmt::format("{}: an entry is a table, not {}", place_in(file, table.place), to_string(table.type)));
            auto entry = Entry(table, file).read();
            if (!entry) return tl::unexpected(entry.error());
            if (!ids.insert(entry->id).second)
                return tl::unexpected(
                    fmt::format("{}: the id '{}' is there twice", place_in(file, table.find("id")->place), entry->id));
            out.entries.push_back(std::move(*entry));
        }
    }
    return out;
}

tl::expected<KnownBad, std::string> load_known_bad(const std::string &file) {
    const std::string path = file.empty() ? own_list().string() : file;
    const auto text = read_file(path, most_bytes);
    if (!text) return tl::unexpected(text.error().message);
    return parse_known_bad(*text, path);
}

} // namespace hbf::tools::doctor
