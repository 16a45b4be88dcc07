// SPDX-License-Identifier: Apache-2.0
// Opens a probed plugin in this process, for good. Boost.DLL is seen in open.cpp only.
#pragma once

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

#include "core/loader/identity.hpp"
#include "core/loader/reasons.hpp"
#include "hbf/abi/plugin.h"

namespace hbf::loader {

// `library` has no links in it and is still the file that was examined. [any thread] A library is opened once a process;
// it stays until the end, since a plugin's threads may outlive anything that could be asked to close it.
tl::expected<const hbf_plugin *, Refusal> open_plugin(const std::filesystem::path &library, const FileIdentity &identity,
                                                      const std::string &name);

} // namespace hbf::loader
