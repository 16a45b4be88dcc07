// SPDX-License-Identifier: Apache-2.0
// What a device that never completes may still write to, and the queue that would wait for it: kept for as long as the
// process lives, where a leak checker sees it.
#pragma once

#include <atomic>
#include <utility>

namespace hbf::kv {

template <class T>
void keep_for_ever(T &&what) {
    struct Kept {
        T what;
        Kept *next;
    };
    static std::atomic<Kept *> all{nullptr};
    auto *const mine = new Kept{std::forward<T>(what), all.load()};
    while (!all.compare_exchange_weak(mine->next, mine)) {
    }
}

} // namespace hbf::kv
