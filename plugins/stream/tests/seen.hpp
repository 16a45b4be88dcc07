// SPDX-License-Identifier: Apache-2.0
// A plugin's parts over an emulated runtime. The emulated machine of a process is made once, so each scene is a process of
// its own that tells what it saw. The profiles are found by HBF_EMULATE_PROFILES.
#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/stream/child.hpp"

namespace hbf::stream {

struct Seen {
    hbf_status status = HBF_OK;
    std::string text; // what `show` told, or the message of what was refused

    bool has(std::string_view words) const { return text.find(words) != std::string::npos; }
};

inline Seen seen(const std::string &profile, const std::string &faults, const std::function<std::string()> &show) {
    try {
        const ChildAnswer answer = ask_in_child(
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

} // namespace hbf::stream
