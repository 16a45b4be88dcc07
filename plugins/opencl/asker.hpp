// SPDX-License-Identifier: Apache-2.0
// Asks the platforms for their devices, in a process that may die of it (discovery.hpp).
#pragma once

#include <chrono>

#include "plugins/opencl/discovery.hpp"

namespace hbf::opencl {

// What is told through the pipe: plain bytes, each at most PIPE_BUF.
struct Word {
    enum class Kind : uint32_t {
        platforms, // `count` of them
        asking,    // platform `found.platform`, `found.platform_name` is known
        device,    // `found`
        trouble,   // `text`
        end,
    };
    Kind kind = Kind::end;
    uint32_t count = 0;
    Found found{};
    char text[512] = {};
};

struct AskLimits {
    std::chrono::milliseconds each{4000}, all{8000}; // of a platform, of all: a host gives a probe ten seconds
};

// Forks, and again without a platform that crashed or hung.
Survey ask_in_child(const Functions &cl, const AskLimits &limits = {});

// The same here, without protection.
Survey ask_here(const Functions &cl);

} // namespace hbf::opencl
