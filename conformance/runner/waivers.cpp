// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/waivers.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "conformance/runner/filter.hpp"
#include "core/common/read_file.hpp"
#include "core/common/suggest.hpp"
#include "core/common/toml.hpp"
#include "core/common/version_range.hpp"

namespace hbf::conformance {
namespace {

const std::vector<std::string> keys = {"id",    "case",   "plugin", "device",  "driver",
                                       "owner", "reason", "issue",  "expires", "must_fail"};

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (const size_t i : {0, 1, 2, 3, 5, 6, 8, 9})
        if (text[i] < '0' || text[i] > '9') return false;
    const int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

std::string *field(Waiver &waiver, std::string_view key) {
    if (key == "id") return &waiver.id;
    if (key == "case") return &waiver.cases;
    if (key == "plugin") return &waiver.plugin;
    if (key == "device") return &waiver.device;
    if (key == "driver") return &waiver.driver;
    if (key == "owner") return &waiver.owner;
    if (key == "reason") return &waiver.reason;
    if (key == "issue") return &waiver.issue;
    return &waiver.expires;
}

// "" or what is wrong with a waiver that was read.
std::string objection(const Waiver &waiver, const std::set<std::string> &ids) {
    Waiver copy = waiver;
    for (const char *key : {"id", "case", "owner", "reason", "issue", "expires"})
        if (field(copy, key)->empty()) return fmt::format("'{}' is missing", key);
    if (ids.contains(waiver.id)) return fmt::format("the id '{}' is there twice", waiver.id);
    if (!is_date(waiver.expires)) return fmt::format("expires = '{}' is no date like 2027-03-31", waiver.expires);
    if (!waiver.driver.empty() && !is_version_range(waiver.driver))
        return fmt::format("driver = '{}' is no list of comparisons like '>=535.54 <550'", waiver.driver);
    return "";
}

tl::expected<Waiver, std::string> read(const TomlNode &table, const std::string &file) {
    Waiver waiver;
    for (const TomlNode &member : table.items) {
        const auto wrong = [&](const std::string &what) {
            return tl::unexpected(fmt::format("{}: {}", place_in(file, member.key_place), what));
        };
        if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
            return wrong(fmt::format("unknown key '{}'{}", member.key, did_you_mean(member.key, keys)));
        const TomlType due = member.key == "must_fail" ? TomlType::boolean : TomlType::string;
        const bool date = member.key == "expires" && member.type == TomlType::time;
        if (member.type != due && !date)
            return wrong(fmt::format("'{}' is {}, not {}", member.key, to_string(member.type), to_string(due)));
        if (due == TomlType::boolean)
            waiver.must_fail = member.boolean;
        else
            *field(waiver, member.key) = member.text;
    }
    return waiver;
}

} // namespace

tl::expected<std::vector<Waiver>, std::string> parse_waivers(std::string_view text, const std::string &file) {
    const auto document = parse_toml(text, file);
    if (!document) return tl::unexpected(document.error().message);
    std::vector<Waiver> out;
    std::set<std::string> ids;
    for (const TomlNode &member : document->items) {
        if (member.key != "waiver" || member.type != TomlType::list)
            return tl::unexpected(fmt::format("{}: '{}' is not known here; waivers are written as [[waiver]] tables",
                                              place_in(file, member.key_place), member.key));
        for (const TomlNode &table : member.items) {
            if (table.type != TomlType::table)
                return tl::unexpected(
                    fmt::format("{}: a waiver is a table, not {}", place_in(file, table.place), to_string(table.type)));
            auto waiver = read(table, file);
            if (!waiver) return tl::unexpected(waiver.error());
            if (const auto why = objection(*waiver, ids); !why.empty())
                return tl::unexpected(fmt::format("{}: waiver {}: {}", place_in(file, table.place),
                                                  waiver->id.empty() ? std::to_string(out.size() + 1) : waiver->id, why));
            ids.insert(waiver->id);
            out.push_back(std::move(*waiver));
        }
    }
    if (out.empty()) return tl::unexpected(fmt::format("{}: no [[waiver]] in it", file));
    return out;
}

tl::expected<std::vector<Waiver>, std::string> load_waivers(const std::string &path) {
    const auto text = read_file(path, 1u << 20);
    if (!text) return tl::unexpected(text.error().message);
    return parse_waivers(*text, path);
}

std::string unmatched_waiver(const std::vector<Waiver> &waivers, const std::vector<CaseEntry> &cases) {
    std::vector<std::string> names;
    for (const CaseEntry &entry : cases) names.push_back(entry.name);
    for (const Waiver &waiver : waivers) {
        const auto matches = [&](const std::string &name) { return glob_matches(waiver.cases, name); };
        if (std::none_of(names.begin(), names.end(), matches))
            return fmt::format("waiver {}: no case matches '{}'{}", waiver.id, waiver.cases,
                               did_you_mean(waiver.cases, names));
    }
    return "";
}

WaiverFacts waiver_facts(const RunRecord &run, std::string today) {
    const auto value = [](const Facts &facts, std::string_view key) {
        const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto &fact) { return fact.first == key; });
        return found == facts.end() ? std::string() : found->second;
    };
    return {value(run.plugin, "name"), value(run.device, "id"), value(run.device, "name"), value(run.device, "driver"),
            std::move(today)};
}

bool driver_in_range(std::string_view range, std::string_view driver) {
    std::string_view version; // the last word that begins with a digit
    while (!driver.empty()) {
        const std::string_view word = driver.substr(0, driver.find(' '));
        driver.remove_prefix(std::min(driver.size(), word.size() + 1));
        if (!word.empty() && word[0] >= '0' && word[0] <= '9') version = word;
    }
    return version_in_range(range, version);
}

void apply_waivers(CaseRecord &record, const std::vector<Waiver> &waivers, const WaiverFacts &facts) {
    for (const Waiver &waiver : waivers) {
        const bool here = glob_matches(waiver.cases, record.name) && glob_matches(waiver.plugin, facts.plugin) &&
                          (glob_matches(waiver.device, facts.device_id) || glob_matches(waiver.device, facts.device_name)) &&
                          (waiver.driver.empty() || driver_in_range(waiver.driver, facts.driver));
        if (!here) continue;
        if (facts.today > waiver.expires) {
            record.notes.push_back(fmt::format("waiver {} of {} expired on {}", waiver.id, waiver.owner, waiver.expires));
            continue;
        }
        const std::string about = fmt::format("waiver {} of {} until {}: {} ({})", waiver.id, waiver.owner, waiver.expires,
                                              waiver.reason, waiver.issue);
        if (record.status == Status::pass || record.status == Status::warn_quality ||
            record.status == Status::warn_capability) {
            record.status = Status::xpass;
            record.reason =
                fmt::format("passes, though waiver {} of {} covers it: the waiver is out of date", waiver.id, waiver.owner);
        } else if (failed(record.status) && record.status != Status::internal_error) {
            record.notes.push_back(fmt::format("{} under {}", to_string(record.status), about));
            record.status = waiver.must_fail ? Status::xfail : Status::waived;
        } else {
            continue;
        }
        record.waiver = waiver.id;
        return;
    }
}

} // namespace hbf::conformance
