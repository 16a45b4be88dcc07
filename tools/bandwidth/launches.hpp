// SPDX-License-Identifier: Apache-2.0
// A run in several processes, one after the other: what differs from launch to launch (where pages fell, which CPUs were
// given) is in no single process's interval, and often larger than it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/output/json.hpp"
#include "tools/bandwidth/options.hpp"
#include "tools/bandwidth/result.hpp"

namespace hbf::tools::bandwidth {

struct Launch {
    int exit_code = -1;   // 128 + signal where a signal ended it
    std::string document; // what it wrote to stdout: its report as JSON
    std::string messages; // and to stderr
};

// Starts `program` with `arguments`, and forwards the signal `interrupted()` names, once. The error says why it did not
// start.
tl::expected<Launch, std::string> launch(const std::string &program, const std::vector<std::string> &arguments,
                                         const std::function<int()> &interrupted);

// One run whose rows hold a median of each launch. With six launches or more the interval is that of their medians, by order
// statistics; below there is none. The error names the launch whose document cannot be read.
struct Launched {
    Run run;
    std::vector<Json> documents;
};
tl::expected<Launched, std::string> combine(const std::vector<Launch> &launches);

std::string launches_text(const Run &run);
std::string launches_json(const Launched &launched, const Options &options);

} // namespace hbf::tools::bandwidth
