// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_list.hpp"

#include <fmt/format.h>

namespace hbf::conformance {
namespace {

std::vector<std::string> texts(const Json &json, std::string_view key) {
    std::vector<std::string> out;
    const auto list = json.get(key);
    for (size_t i = 0; list && i < list->size(); ++i) out.push_back(list->at(i)->text().value_or(""));
    return out;
}

bool flag(const Json &json, std::string_view key) {
    const auto value = json.get(key);
    return value && value->boolean().value_or(false);
}

} // namespace

Json to_json(const std::vector<CaseEntry> &cases) {
    Json out = Json::array();
    for (const CaseEntry &entry : cases) {
        Json one = Json::object({{"name", entry.name}, {"group", entry.group()}});
        one.set("rules", Json::array_of(entry.rules)).set("kills", Json::array_of(entry.kills));
        one.set("needs", Json::array_of(entry.needs)).set("profile", entry.profile);
        one.set("budget_s", entry.budget_s).set("limit_s", entry.limit_s);
        one.set("masked", entry.masked).set("host_side", entry.host_side).set("hidden", entry.hidden);
        one.set("unproven", entry.unproven);
        out.push(std::move(one));
    }
    return out;
}

tl::expected<std::vector<CaseEntry>, std::string> case_list_from(std::string_view text) {
    const auto json = Json::parse(text);
    if (!json) return tl::unexpected(json.error());
    std::vector<CaseEntry> out;
    for (size_t i = 0; i < json->size(); ++i) {
        const Json one = json->at(i).value_or(Json());
        const auto name = one.get("name"), profile = one.get("profile"), budget = one.get("budget_s"),
                   limit = one.get("limit_s"), unproven = one.get("unproven");
        if (!name || !profile || !budget || !limit) return tl::unexpected(fmt::format("entry {} is no case", i));
        CaseEntry entry;
        entry.name = name->text().value_or("");
        entry.profile = profile->text().value_or("");
        entry.budget_s = budget->number().value_or(0);
        entry.limit_s = static_cast<uint32_t>(limit->whole().value_or(0));
        entry.rules = texts(one, "rules");
        entry.kills = texts(one, "kills");
        entry.needs = texts(one, "needs");
        entry.masked = flag(one, "masked");
        entry.host_side = flag(one, "host_side");
        entry.hidden = flag(one, "hidden");
        if (unproven) entry.unproven = unproven->text().value_or("");
        out.push_back(std::move(entry));
    }
    return out;
}

} // namespace hbf::conformance
