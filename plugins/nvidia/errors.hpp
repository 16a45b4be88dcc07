// SPDX-License-Identifier: Apache-2.0
// The driver's error codes: their names, and what they mean to a host.
#pragma once

#include <string>
#include <string_view>

#include "hbf/sdk/failure.hpp"
#include "plugins/nvidia/library.hpp"

namespace hbf::nvidia {

std::string error_text(const Driver &cuda, cuda::Result code); // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
hbf_status error_status(cuda::Result code) noexcept;           // by cause; HBF_OK for success
// After these the context is of no use any more, whatever is asked of it.
bool sticky(cuda::Result code) noexcept;

// Throws where `code` is none of success: "WHAT: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
void check(const Driver &cuda, cuda::Result code, std::string_view what);

} // namespace hbf::nvidia
