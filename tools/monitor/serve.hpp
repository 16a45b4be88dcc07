// SPDX-License-Identifier: Apache-2.0
// Metrics over HTTP, for Prometheus. One request at a time; whoever is slow is cut off after a second.
#pragma once

#include <functional>
#include <string>

#include "hbf/status.hpp"

namespace hbf::tools::monitor {

struct Serving {
    std::string address = "127.0.0.1";
    uint16_t port = 0;                    // 0: any that is free
    std::function<std::string()> metrics; // of now
    std::function<bool()> stop;           // looked at ten times a second
    std::function<void(const std::string &url)> ready;
};

// Until `stop`. INVALID: no such address; EXHAUSTED or PERMISSION: the port cannot be had.
Result<> serve_metrics(const Serving &serving);

} // namespace hbf::tools::monitor
