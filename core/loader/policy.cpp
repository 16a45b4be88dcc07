// SPDX-License-Identifier: Apache-2.0
#include "core/loader/policy.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

NameList list_of(const Config &config, const char *key) {
    const ConfigValue &value = config.get(key);
    return {split(value.value, ','), value.where.empty() ? key : value.where};
}

size_t index_of(const std::vector<std::string> &names, std::string_view name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool contains(const std::vector<std::string> &names, std::string_view name) {
    return index_of(names, name) < names.size();
}

} // namespace

Policy Policy::from(const Config &config) {
    return {list_of(config, "plugins.allow"), list_of(config, "plugins.deny"), list_of(config, "plugins.pin")};
}

Result<> Policy::check_names(const std::vector<std::string> &known) const {
    for (const NameList *list : {&allow, &deny, &pin}) {
        for (const std::string &name : list->names) {
            if (contains(known, name)) continue;
            std::string hint = did_you_mean(name, known);
            if (hint.empty()) hint = known.empty() ? "; none was found" : fmt::format("; found: {}", fmt::join(known, ", "));
            return fail(Code::invalid,
                        fmt::format("{}: no plugin is called \"{}\"{}", list->where, printable(name, 80), hint));
        }
    }
    return {};
}

std::optional<Refusal> Policy::objection(std::string_view plugin) const {
    if (contains(deny.names, plugin)) {
        return Refusal{Reason::denied_by_config, fmt::format("{} denies it; remedy: take it off that list", deny.where)};
    }
    if (!allow.names.empty() && !contains(allow.names, plugin)) {
        return Refusal{Reason::not_in_allow_list,
                       fmt::format("{} allows only {}; remedy: add it there", allow.where, fmt::join(allow.names, ", "))};
    }
    return std::nullopt;
}

size_t Policy::pin_index(std::string_view plugin) const {
    return index_of(pin.names, plugin);
}

size_t Policy::allow_index(std::string_view plugin) const {
    return allow.names.empty() ? 0 : index_of(allow.names, plugin);
}

} // namespace hbf::loader
