// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/json.hpp"

namespace hbf::tools::bandwidth {
namespace {

using Wrong = tl::unexpected<std::string>;

std::optional<Wrong> unknown_key(const Json &object, const std::vector<std::string> &known, const std::string &where) {
    for (const auto &key : object.keys()) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            return Wrong(fmt::format("{}: unknown key '{}'{}; keys: {}", where, key, did_you_mean(key, known),
                                     fmt::join(known, ", ")));
        }
    }
    return std::nullopt;
}

tl::expected<std::string, std::string> text_of(const Json &object, const char *key, const std::string &where) {
    auto member = object.get(key);
    auto text = member ? member->text() : std::nullopt;
    if (!text || text->empty()) return Wrong(fmt::format("{}: '{}' must be a text that is not empty", where, key));
    return *text;
}

bool is_date(const std::string &text) {
    static const std::string shape = "dddd-dd-dd";
    return text.size() == shape.size() && std::equal(text.begin(), text.end(), shape.begin(), [](char c, char s) {
               return s == 'd' ? c >= '0' && c <= '9' : c == s;
           });
}

} // namespace

std::optional<Floor> Profile::floor(const Place &src, const Place &dst) const {
    if (src.model.find(device) == std::string::npos || dst.model.find(device) == std::string::npos) return std::nullopt;
    for (const auto &from : {src.tier.name, kind_name(src.tier.kind)}) {
        for (const auto &to : {dst.tier.name, kind_name(dst.tier.kind)}) {
            const auto found = std::find_if(floors.begin(), floors.end(),
                                            [&](const Entry &entry) { return entry.src == from && entry.dst == to; });
            if (found != floors.end()) return Floor{found->gbs, name, found->source.empty() ? source : found->source, date};
        }
    }
    return std::nullopt;
}

tl::expected<Profile, std::string> parse_profile(std::string_view text, const std::string &file) {
    auto json = Json::parse(text);
    if (!json) return Wrong(fmt::format("{}: {}", file, json.error()));
    if (auto wrong = unknown_key(*json, {"profile", "device", "source", "date", "floors"}, file)) return *wrong;
    Profile out;
    for (auto [key, target] :
         {std::pair{"profile", &out.name}, std::pair{"source", &out.source}, std::pair{"date", &out.date}}) {
        auto value = text_of(*json, key, file);
        if (!value) return Wrong(value.error() + ": a floor is judged only with its source and date");
        *target = *value;
    }
    if (json->get("device")) {
        auto device = text_of(*json, "device", file);
        if (!device) return Wrong(device.error());
        out.device = *device;
    }
    if (!is_date(out.date)) return Wrong(fmt::format("{}: 'date' is '{}', write it as 2026-01-31", file, out.date));
    auto floors = json->get("floors");
    if (!floors || floors->size() == 0 || !floors->at(0))
        return Wrong(fmt::format("{}: 'floors' must be a list with an entry", file));
    for (size_t i = 0; i < floors->size(); ++i) {
        const auto where = fmt::format("{}: floors[{}]", file, i);
        const auto entry = *floors->at(i);
        if (auto wrong = unknown_key(entry, {"src", "dst", "gb_per_s", "source"}, where)) return *wrong;
        auto src = text_of(entry, "src", where), dst = text_of(entry, "dst", where);
        if (!src) return Wrong(src.error());
        if (!dst) return Wrong(dst.error());
        auto figure = entry.get("gb_per_s");
        auto gbs = figure ? figure->number() : std::nullopt;
        if (!gbs || !(*gbs > 0)) return Wrong(where + ": 'gb_per_s' must be a number above 0, in 1e9 bytes a second");
        std::string own;
        if (entry.get("source")) {
            auto source = text_of(entry, "source", where);
            if (!source) return Wrong(source.error());
            own = *source;
        }
        out.floors.push_back({*src, *dst, own, *gbs});
    }
    return out;
}

} // namespace hbf::tools::bandwidth
