// SPDX-License-Identifier: Apache-2.0
// What an errno of file I/O means to a user of the fabric.
#pragma once

#include <string>
#include <string_view>

#include "hbf/abi/basic.h"
#include "hbf/sdk/failure.hpp"

namespace hbf::host {

hbf_status status_of_errno(int error) noexcept;

// "cannot open /data/hbf: Permission denied"
std::string errno_message(std::string_view what, std::string_view path, int error);

[[noreturn]] void fail_errno(std::string_view what, std::string_view path, int error);

} // namespace hbf::host
