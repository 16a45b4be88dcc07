// SPDX-License-Identifier: Apache-2.0
// Where the fabric and the plugins it opened say what no return value can carry. HBF_LOG=debug|info|warning|error|off sets
// the lowest level that is kept (warning); lines go to stderr as "hbf: warning: ...".
#pragma once

#include <string_view>

#include "hbf/abi/host.h"

namespace hbf::fabric {

bool log_wanted(hbf_log_level level) noexcept;
void log_line(hbf_log_level level, std::string_view who, std::string_view message) noexcept;

// What create gets. Valid for the life of the process.
const hbf_host_services *host_services() noexcept;

} // namespace hbf::fabric
