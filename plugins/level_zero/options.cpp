// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/options.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::level_zero {
namespace {

[[noreturn]] void refuse(const std::string &key, const std::string &text, const std::string &wanted) {
    sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not {}", key, text, wanted));
}

uint64_t bytes(const std::string &key, const std::string &text) {
    constexpr uint64_t least = 1 << 20;
    const auto value = parse_size(text);
    if (!value) refuse(key, text, "a size: " + value.error());
    if (*value < least) refuse(key, text, "a size of 1 MiB or more");
    return *value / least * least;
}

} // namespace

Options parse_options(const sdk::Options &options) {
    Options result;
    for (const auto &[key, text] : options) {
        if (key == "device") {
            if (text.empty()) refuse(key, text, "an id, a part of a name, or a number");
            result.device = text;
        } else if (key == "device_bytes") {
            result.device_bytes = bytes(key, text);
        } else if (key == "pinned_bytes") {
            result.pinned_bytes = bytes(key, text);
        } else if (key == "shared_bytes") {
            result.shared_bytes = bytes(key, text);
        } else if (key == "copy_engine") {
            if (text != "auto" && text != "off") refuse(key, text, "auto or off");
            result.copy_engine = text == "auto";
        } else {
            const std::vector<std::string> known = {"device", "device_bytes", "pinned_bytes", "shared_bytes", "copy_engine"};
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin level_zero{}; there are {}", key,
                                               did_you_mean(key, known), fmt::join(known, ", ")));
        }
    }
    return result;
}

} // namespace hbf::level_zero
