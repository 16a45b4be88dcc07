// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/settings.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/common/suggest.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::inject {
namespace {

bool parse(std::string_view text, uint64_t &value) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse(std::string_view text, double &value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

void check(std::string_view fault, const Parameter &parameter, std::string_view value) {
    const auto refuse = [&](const std::string &what) {
        sdk::fail(HBF_INVALID, fmt::format("fault {}: {}=\"{}\" is not {}", fault, parameter.key, value, what));
    };
    uint64_t number = 0;
    double real = 0;
    switch (parameter.kind) {
    case Parameter::count:
        if (!parse(value, number)) refuse("a whole number, such as 3 or 0x1000");
        break;
    case Parameter::probability:
        if (!parse(value, real) || !(real >= 0 && real <= 1)) refuse("a probability from 0 to 1, such as 1e-9");
        break;
    case Parameter::word:
        if (std::find(parameter.choices.begin(), parameter.choices.end(), value) == parameter.choices.end())
            refuse(fmt::format("one of {}", fmt::join(parameter.choices, ", ")));
        break;
    case Parameter::name:
        if (value.empty()) refuse("a name");
        break;
    }
}

} // namespace

Settings::Settings(std::string_view fault, std::string_view text, const std::vector<Parameter> &known) {
    for (const Parameter &parameter : known) values_[std::string(parameter.key)] = parameter.preset;
    std::set<std::string_view> seen;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(item.size() + 1, text.size()));
        const std::string_view key = item.substr(0, item.find('='));
        const auto found = std::find_if(known.begin(), known.end(), [&](const Parameter &p) { return p.key == key; });
        if (found == known.end()) {
            std::vector<std::string> keys;
            for (const Parameter &parameter : known) keys.emplace_back(parameter.key);
            sdk::fail(HBF_INVALID, fmt::format("fault {} has no parameter \"{}\"{}; it has {}", fault, key,
                                               did_you_mean(key, keys), fmt::join(keys, ", ")));
        }
        if (key.size() == item.size())
            sdk::fail(HBF_INVALID, fmt::format("fault {}: parameter {} has no value: write {}=...", fault, key, key));
        if (!seen.insert(found->key).second)
            sdk::fail(HBF_INVALID, fmt::format("fault {}: parameter {} is given twice", fault, key));
        const std::string_view value = item.substr(key.size() + 1);
        check(fault, *found, value);
        values_[std::string(key)] = value;
    }
}

const std::string &Settings::text(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw std::logic_error("a fault asks for a parameter that it does not declare");
    return found->second;
}

uint64_t Settings::number(std::string_view key) const {
    uint64_t value = 0;
    parse(text(key), value);
    return value;
}

double Settings::probability(std::string_view key) const {
    double value = 0;
    parse(text(key), value);
    return value;
}

} // namespace hbf::inject
