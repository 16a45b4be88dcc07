// SPDX-License-Identifier: Apache-2.0
// The plugin that is wrapped: opened as a host opens one, and never closed.
#pragma once

#include <string>

#include "hbf/abi.h"

namespace hbf::inject {

// [any-thread] Throws sdk::Failure: INVALID for a path that is not absolute, UNAVAILABLE with the linker's word for a file
// that does not load, UNSUPPORTED for one that is no plugin of this ABI and build.
const hbf_plugin &open_plugin(const std::string &path);

} // namespace hbf::inject
