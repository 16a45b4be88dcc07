// SPDX-License-Identifier: Apache-2.0
// Work shared out among processes: each runs cases, adopts what they leave behind, and so must be a process of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <tl/expected.hpp>

namespace hbf::conformance {

// Calls work(0) ... work(count - 1) in `workers` forked processes, each taking the next one as it gets free, and hands every
// result (one line) to `take` in this process as it comes. The caller has no other threads. `interrupted` stops it early:
// what has begun ends by itself. The error: a worker could not be made, or ended before its work.
// The first `waiting` pieces mostly wait: two workers more begin with them, the others come to them last.
tl::expected<void, std::string> share_out(size_t count, unsigned workers, const std::function<std::string(size_t)> &work,
                                          const std::function<void(size_t, std::string)> &take,
                                          const std::function<int()> &interrupted, size_t waiting = 0);

} // namespace hbf::conformance
