// SPDX-License-Identifier: Apache-2.0
// What a device that hangs may yet write to: it stays for the life of the process.
#pragma once

namespace hbf::stream {

void leave(void *what) noexcept; // the caller has given up its ownership

} // namespace hbf::stream
