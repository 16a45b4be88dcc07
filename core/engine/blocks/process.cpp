// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/process.hpp"

#include <atomic>

#include <pthread.h>
#include <unistd.h>

namespace hbf::kv {
namespace {

std::atomic<uint64_t> forks{0};

} // namespace

uint64_t this_process() noexcept {
    // A handler, for getpid() is a system call; it can only be missing where memory was.
    static const bool told = ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
    return told ? forks.load(std::memory_order_relaxed) : static_cast<uint64_t>(::getpid());
}

} // namespace hbf::kv
