// SPDX-License-Identifier: Apache-2.0
// The plugin's parts over an emulated HIP runtime, which the dynamic linker finds by LD_LIBRARY_PATH.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include "plugins/amd/discovery.hpp"
#include "plugins/amd/instance.hpp"
#include "plugins/stream/tests/on_instance.hpp"

namespace hbf::amd {

using stream::alloc;
using stream::copy_of;
using stream::Logged;
using stream::Seen;
using stream::seen;
using stream::submit;

inline std::unique_ptr<AmdInstance> open_first(const AmdOptions &options, const sdk::Log &log,
                                               const std::string &root = "") {
    const Survey all = survey(root);
    const Found &first = all.devices.front();
    return std::make_unique<AmdInstance>(open_device(first, all), first, all, options, root, log);
}

// What is small enough for every machine that runs tests.
inline AmdOptions small() {
    AmdOptions options;
    options.hbm_bytes = options.host_bytes = 64 << 20;
    return options;
}

inline std::string tier_names(AmdInstance &instance) {
    std::string out;
    for (uint32_t i = 0; i < instance.tier_count(); ++i) {
        hbf_tier_info info{};
        instance.describe_tier(i, info);
        out += fmt::format("{}{}", out.empty() ? "" : " ", info.name);
    }
    return out;
}

} // namespace hbf::amd
