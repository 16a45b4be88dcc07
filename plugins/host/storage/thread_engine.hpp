// SPDX-License-Identifier: Apache-2.0
// The engine for where io_uring is refused: a few threads with pread and pwrite.
#pragma once

#include "engine.hpp"
#include "io_calls.hpp"

namespace hbf::host {

std::unique_ptr<Engine> make_thread_engine(uint32_t capacity, const IoCalls &calls = system_io);

} // namespace hbf::host
