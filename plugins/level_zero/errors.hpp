// SPDX-License-Identifier: Apache-2.0
// Level Zero's result codes: their names, and what they mean to a host.
#pragma once

#include <string>
#include <string_view>

#include "hbf/abi/basic.h"
#include "plugins/level_zero/api.hpp"

namespace hbf::level_zero {

std::string error_text(ze::Result code);            // "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)"
hbf_status error_status(ze::Result code) noexcept;  // by cause; HBF_OK for success
void check(ze::Result code, std::string_view what); // throws sdk::Failure: "WHAT: NAME (CODE)"

} // namespace hbf::level_zero
