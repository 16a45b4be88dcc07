// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/options.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::cambricon {
namespace {

uint64_t bytes(const std::string &key, const std::string &text) {
    constexpr uint64_t least = 1 << 20;
    const auto value = parse_size(text);
    if (!value) sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not a size: {}", key, text, value.error()));
    if (*value < least) sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not a size of 1 MiB or more", key, text));
    return *value / least * least;
}

} // namespace

CambriconOptions parse_options(const sdk::Options &options) {
    CambriconOptions result;
    for (const auto &[key, text] : options) {
        if (key == "device_bytes") {
            result.device_bytes = bytes(key, text);
        } else if (key == "pinned_bytes") {
            result.pinned_bytes = bytes(key, text);
        } else {
            const std::vector<std::string> known = {"device_bytes", "pinned_bytes"};
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin cambricon{}; there are {}", key,
                                               did_you_mean(key, known), fmt::join(known, ", ")));
        }
    }
    return result;
}

} // namespace hbf::cambricon
