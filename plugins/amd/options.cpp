// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/options.hpp"

#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::amd {
namespace {

[[noreturn]] void refuse(const std::string &key, const std::string &text, const std::string &wanted) {
    sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not {}", key, text, wanted));
}

using Read = std::function<void(AmdOptions &, const std::string &key, const std::string &text)>;

Read size(uint64_t AmdOptions::*member) {
    return [member](AmdOptions &out, const std::string &key, const std::string &text) {
        constexpr uint64_t unit = 2 << 20; // a large page of the device
        const auto value = parse_size(text);
        if (!value) refuse(key, text, "a size: " + value.error());
        if (*value < unit) refuse(key, text, "a size of 2 MiB or more");
        out.*member = *value / unit * unit;
    };
}

Read yes_or_no(bool AmdOptions::*member) {
    return [member](AmdOptions &out, const std::string &key, const std::string &text) {
        if (text != "on" && text != "off") refuse(key, text, "on or off");
        out.*member = text == "on";
    };
}

Read coherence(CoherenceClass AmdOptions::*member, std::vector<CoherenceClass> among) {
    return [member, among = std::move(among)](AmdOptions &out, const std::string &key, const std::string &text) {
        std::string names;
        for (const CoherenceClass one : among) {
            if (text == name_of(one)) {
                out.*member = one;
                return;
            }
            names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(one));
        }
        refuse(key, text, "one of " + names);
    };
}

const std::vector<std::pair<std::string, Read>> &known() {
    using enum CoherenceClass;
    static const auto *const all = new std::vector<std::pair<std::string, Read>>{
        {"device",
         [](AmdOptions &out, const std::string &key, const std::string &text) {
             if (text.empty()) refuse(key, text, "a part of an id or name, or an index");
             out.device = text;
         }},
        {"hbm_bytes", size(&AmdOptions::hbm_bytes)},
        {"host_bytes", size(&AmdOptions::host_bytes)},
        {"cxl_bytes", size(&AmdOptions::cxl_bytes)},
        {"peer_bytes", size(&AmdOptions::peer_bytes)},
        {"hbm_class", coherence(&AmdOptions::hbm_class, {coarse, fine, uncached})},
        {"host_class", coherence(&AmdOptions::host_class, {coarse, fine})},
        {"peers", yes_or_no(&AmdOptions::peers)},
        {"cxl", yes_or_no(&AmdOptions::cxl)},
    };
    return *all;
}

} // namespace

AmdOptions parse_options(const sdk::Options &options) {
    AmdOptions result;
    for (const auto &[key, text] : options) {
        bool found = false;
        for (const auto &[name, read] : known())
            if (key == name) {
                read(result, key, text);
                found = true;
            }
        if (found) continue;
        std::vector<std::string> names;
        for (const auto &[name, read] : known()) names.push_back(name);
        sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin amd{}; there are {}", key,
                                           did_you_mean(key, names), fmt::join(names, ", ")));
    }
    return result;
}

const char *name_of(CoherenceClass kind) noexcept {
    switch (kind) {
    case CoherenceClass::coarse:
        return "coarse";
    case CoherenceClass::fine:
        return "fine";
    case CoherenceClass::uncached:
        return "uncached";
    }
    return "?";
}

} // namespace hbf::amd
