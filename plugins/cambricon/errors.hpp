// SPDX-License-Identifier: Apache-2.0
// Codes of CNRT and CNDrv: their words, and what they mean to a host.
#pragma once

#include <string>
#include <string_view>

#include "hbf/abi/basic.h"
#include "hbf/sdk/failure.hpp"
#include "plugins/cambricon/api.hpp"

namespace hbf::cambricon {

// "cnrtErrorNoMem (100100)", with the runtime's own sentence where it has one.
std::string error_text(const Cnrt &cnrt, int code);
// By cause; HBF_OK for success. `ran`: of work that the runtime had taken, where "no such device" means that it is gone.
hbf_status error_status(int code, bool ran) noexcept;
// Both codes that mean "not over yet": headers name 632014 (deprecated), callers see 1.
inline bool still_runs(int code) noexcept {
    return code == code::not_ready || code == code::busy;
}

// Throws sdk::Failure where `code` is none of success: "WHAT: cnrtErrorNoMem (100100): ...".
void check(const Cnrt &cnrt, int code, std::string_view what);

} // namespace hbf::cambricon
