// SPDX-License-Identifier: Apache-2.0
// A fill of any offset and length, as fills of whole, aligned elements.
#pragma once

#include "plugins/stream/command.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::stream {

int fill(StreamApi &api, const Command &command) noexcept; // 0, or what the runtime said

} // namespace hbf::stream
