// SPDX-License-Identifier: Apache-2.0
// The host's log, the only place a plugin may write to.
#pragma once

#include <string_view>

#include "hbf/abi/host.h"

namespace hbf::sdk {

class Log {
public:
    Log() = default;
    explicit Log(const hbf_host_services *services) : services_(services) {}

    bool wants(hbf_log_level level) const {
        return services_ && services_->log && (!services_->log_level || services_->log_level(services_->context) <= level);
    }
    void write(hbf_log_level level, std::string_view message) const {
        if (wants(level)) services_->log(services_->context, level, {message.data(), message.size()});
    }
    void info(std::string_view message) const { write(HBF_LOG_INFO, message); }
    void warning(std::string_view message) const { write(HBF_LOG_WARNING, message); }
    void error(std::string_view message) const { write(HBF_LOG_ERROR, message); }

private:
    const hbf_host_services *services_ = nullptr;
};

} // namespace hbf::sdk
