// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/host_log.hpp"

#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "core/common/environment.hpp"

namespace hbf::fabric {
namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warning", "error", "off"};

hbf_log_level configured_level() noexcept {
    try {
        if (const auto value = environment("HBF_LOG"))
            for (hbf_log_level level = 0; level < level_names.size(); ++level)
                if (*value == level_names[level]) return level;
    } catch (...) { // no memory to read it with: the default
    }
    return HBF_LOG_WARNING;
}

hbf_log_level lowest_level() noexcept {
    static const hbf_log_level level = configured_level();
    return level;
}

} // namespace

bool log_wanted(hbf_log_level level) noexcept {
    return level >= lowest_level();
}

void log_line(hbf_log_level level, std::string_view who, std::string_view message) noexcept {
    if (!log_wanted(level)) return;
    const std::string_view name = level < level_names.size() - 1 ? level_names[level] : "error";
    // One write a line, so that lines of several threads do not mix; a line too long for the buffer is cut.
    std::array<char, 1024> line;
    const auto end =
        fmt::format_to_n(line.data(), line.size() - 1, "hbf: {}: {}{}{}", name, who, who.empty() ? "" : ": ", message);
    *end.out = '\n';
    std::fwrite(line.data(), 1, static_cast<size_t>(end.out - line.data()) + 1, stderr);
}

const hbf_host_services *host_services() noexcept {
    static constexpr hbf_host_services services{sizeof(hbf_host_services), 0, nullptr,
                                                [](void *, hbf_log_level level, hbf_string message) noexcept {
                                                    log_line(level, "plugin", {message.data, message.size});
                                                },
                                                [](void *) noexcept { return lowest_level(); }};
    return &services;
}

} // namespace hbf::fabric
