// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/options.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/shell/sized.hpp"

namespace hbf::inject {

Options::Options(const hbf_option *options, uint32_t count) {
    if (count != 0 && !options) sdk::fail(HBF_INVALID, "options is NULL but option_count is not 0");
    static constexpr std::string_view prefix = "inject.", inner = "inject.inner.";
    for (uint32_t i = 0; i < count; ++i) {
        const std::string_view key = sdk::shell::view(options[i].key, "an option's key");
        const std::string_view value = sdk::shell::view(options[i].value, "an option's value");
        if (key == "inject.plugin") {
            if (!plugin.empty()) sdk::fail(HBF_INVALID, "option inject.plugin is given twice");
            plugin = value;
        } else if (key == "inject.fault") {
            faults = faults.empty() ? std::string(value) : fmt::format("{};{}", value, faults);
        } else if (key.starts_with(inner)) {
            hbf_option option = options[i];
            inner_keys_.push_back(std::string(prefix) + std::string(key.substr(inner.size())));
            option.key = {inner_keys_.back().data(), inner_keys_.back().size()};
            rest.push_back(option);
        } else if (key.starts_with(prefix)) {
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\"{}; the wrapper has inject.plugin and inject.fault",
                                               key, did_you_mean(key, {"inject.plugin", "inject.fault"})));
        } else {
            rest.push_back(options[i]);
        }
    }
    if (plugin.empty()) sdk::fail(HBF_INVALID, "option inject.plugin is missing: the absolute path of the plugin to wrap");
}

} // namespace hbf::inject
