// SPDX-License-Identifier: Apache-2.0
// Who hands in what: a small TOML file, filled in by the run as far as it knows, and by people.
#include "conformance/report/statement.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conformance/report/package.hpp"
#include "conformance/report/summary.hpp"
#include "core/common/toml.hpp"

namespace hbf::conformance {
namespace {

constexpr std::array<std::string_view, 3> of_people = {"company", "product", "contact"};
constexpr std::array<std::string_view, 7> of_the_run = {"device", "driver", "os", "cpu", "firmware", "suite", "remarks"};

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
    }
    return out + "\"";
}

} // namespace

std::string statement_template(const RunRecord &run) {
    std::string out = "# Who hands this in. Fill in what is empty: company, product and contact are asked for.\n";
    const auto line = [&](std::string_view key, const std::string &value) {
        out += fmt::format("{} = {}\n", key, toml_string(value));
    };
    for (const std::string_view key : of_people) line(key, "");
    line("device", fmt::format("{} ({})", fact(run.device, "name"), fact(run.device, "id")));
    line("driver", fact(run.device, "driver"));
    line("os", fact(run.host, "kernel"));
    line("cpu", fact(run.host, "cpu"));
    line("firmware", "");
    line("suite", run.suite_version);
    line("remarks", "");
    return out;
}

tl::expected<std::vector<std::string>, std::string> statement_gaps(const std::string &text) {
    const auto document = parse_toml(text, statement_file);
    if (!document) return tl::unexpected(document.error().message);
    for (const TomlNode &item : document->items) {
        const auto known = [&](std::string_view key) { return key == item.key; };
        if (std::none_of(of_people.begin(), of_people.end(), known) &&
            std::none_of(of_the_run.begin(), of_the_run.end(), known))
            return tl::unexpected(fmt::format("{}: unknown key '{}'", place_in(statement_file, item.key_place), item.key));
        if (item.type != TomlType::string)
            return tl::unexpected(fmt::format("{}: '{}' must be a string", place_in(statement_file, item.place), item.key));
    }
    std::vector<std::string> gaps;
    for (const std::string_view key : of_people)
        if (const TomlNode *item = document->find(key); !item || item->text.empty()) gaps.emplace_back(key);
    return gaps;
}

} // namespace hbf::conformance
