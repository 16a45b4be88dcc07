// SPDX-License-Identifier: Apache-2.0
// Which process this is. A child of fork() has the memory of its parent's caches, but neither their threads nor, for good,
// the locks that one of them held just then; nor may it use the parent's devices.
#pragma once

#include <cstdint>

#include "core/common/guarded.hpp"

namespace hbf::kv {

uint64_t this_process() noexcept; // the same number for as long as the process lives, another one in each child of fork()

// Runs what somebody asked of a cache that was opened in `process`: no exception leaves it, and a child of fork() is told.
template <class Body>
auto asked_of(uint64_t process, Body &&body) noexcept -> decltype(body()) {
    return guarded([&]() -> decltype(body()) {
        if (process == this_process()) return std::forward<Body>(body)();
        return fail(Code::unavailable, "the cache was opened before fork(), by the parent process, whose threads and "
                                       "devices are not here; remedy: open a cache in the process that uses it");
    });
}

} // namespace hbf::kv
