// SPDX-License-Identifier: Apache-2.0
// HIP's error codes: their names, and what they mean to a host.
#pragma once

#include <string>
#include <string_view>

#include "hbf/sdk/failure.hpp"
#include "plugins/amd/api.hpp"

namespace hbf::amd {

std::string error_text(Code code);                             // "hipErrorOutOfMemory (2)"
hbf_status error_status(Code code, bool ran = false) noexcept; // by cause. `ran`: of work that the runtime had taken

// Throws sdk::Failure where `code` is none of success: "WHAT: hipErrorOutOfMemory (2)".
void check(Code code, std::string_view what);

// The runtime keeps the last error of a thread until somebody asks. The embedding program must not find ours, so what failed
// here, or was not ready, is taken out at once. Gives `code` back.
Code taken(Code code) noexcept;

} // namespace hbf::amd
