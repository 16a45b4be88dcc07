// SPDX-License-Identifier: Apache-2.0
// Keeps exceptions inside libhbf.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "hbf/status.hpp"

namespace hbf {

// Runs `body`, which returns a Result; what it throws becomes an error. The message for lack of memory needs none.
template <class Body>
auto guarded(Body &&body) noexcept -> decltype(body()) {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc &) {
        return fail(Code::exhausted, "out of memory");
    } catch (const std::exception &problem) {
        try {
            return fail(Code::internal, problem.what());
        } catch (...) {
            return fail(Code::exhausted, "out of memory");
        }
    }
}

} // namespace hbf
