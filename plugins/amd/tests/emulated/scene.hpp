// SPDX-License-Identifier: Apache-2.0
// The plugin's parts over an emulated HIP runtime, which the dynamic linker finds by LD_LIBRARY_PATH. The machine of a
// process is made once, so each scene is a process of its own that tells what it saw.
#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/amd/discovery.hpp"
#include "plugins/amd/instance.hpp"
#include "plugins/stream/child.hpp"

namespace hbf::amd {

struct Seen {
    hbf_status status = HBF_OK;
    std::string text; // what `show` told, or the message of what was refused
};

inline Seen seen(const std::string &profile, const std::string &faults, const std::function<std::string()> &show) {
    try {
        const stream::ChildAnswer answer = stream::ask_in_child(
            [&] {
                setenv("HBF_EMULATE_PROFILE", profile.c_str(), 1);
                setenv("HBF_EMULATE_FAULTS", faults.c_str(), 1);
                return show();
            },
            std::chrono::seconds(60));
        return {answer.whole ? HBF_OK : HBF_INTERNAL, answer.whole ? answer.told : answer.end};
    } catch (const sdk::Failure &failure) {
        return {failure.status, failure.message};
    }
}

// Collects what is logged.
struct Logged {
    hbf_host_services services{};
    std::string text;

    Logged() {
        services.struct_size = sizeof services;
        services.context = this;
        services.log = [](void *self, hbf_log_level, hbf_string message) noexcept {
            static_cast<Logged *>(self)->text += std::string(message.data, message.size) + "\n";
        };
    }
    sdk::Log log() const { return sdk::Log(&services); }
};

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
