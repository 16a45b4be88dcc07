// SPDX-License-Identifier: Apache-2.0
// Where storage goes when nobody said: the user's cache directory.
#pragma once

#include <string>

namespace hbf::host {

// $XDG_CACHE_HOME/hbf/storage or $HOME/.cache/hbf/storage, made with mode 0700 where missing. Throws sdk::Failure
// UNAVAILABLE or PERMISSION naming what is in the way and the option that avoids it.
std::string default_storage_directory();

} // namespace hbf::host
