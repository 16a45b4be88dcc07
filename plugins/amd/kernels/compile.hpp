// SPDX-License-Identifier: Apache-2.0
// A kernel's text as a code object, by hipRTC.
#pragma once

#include <string>

#include "hbf/sdk/log.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::amd {

// `architecture` may be "": then it is the current device's. Throws UNAVAILABLE with the compiler's first words; all of them
// are in the log then.
std::string compile(const kernels::device::Kernel &kernel, const std::string &architecture, const sdk::Log &log);

} // namespace hbf::amd
