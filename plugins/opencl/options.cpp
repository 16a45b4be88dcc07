// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/options.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::opencl {
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

std::string name(const std::string &key, const std::string &text) {
    if (text.empty()) refuse(key, text, "a part of a name or an index");
    return text;
}

} // namespace

OpenClOptions parse_options(const sdk::Options &options) {
    OpenClOptions result;
    for (const auto &[key, text] : options) {
        if (key == "platform") {
            result.platform = name(key, text);
        } else if (key == "device") {
            result.device = name(key, text);
        } else if (key == "device_bytes") {
            result.device_bytes = bytes(key, text);
        } else if (key == "mapped_bytes") {
            result.mapped_bytes = bytes(key, text);
        } else if (key == "svm_bytes") {
            result.svm_bytes = bytes(key, text);
        } else {
            const std::vector<std::string> known = {"platform", "device", "device_bytes", "mapped_bytes", "svm_bytes"};
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin opencl{}; there are {}", key,
                                               did_you_mean(key, known), fmt::join(known, ", ")));
        }
    }
    return result;
}

} // namespace hbf::opencl
