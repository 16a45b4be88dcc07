// SPDX-License-Identifier: Apache-2.0
// The least a test needs: CHECK says what is wrong and where, and the program's exit status counts.
#pragma once

#include <cstdio>

#include "hbf/sdk/failure.hpp"

inline int wrong = 0;

inline void check(bool good, const char *what, const char *file, int line) {
    if (good) return;
    std::printf("%s:%d: not so: %s\n", file, line, what);
    ++wrong;
}
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)

// The status that `call` is refused with, HBF_OK if it is not.
template <class Call> hbf_status refusal(Call &&call) {
    try {
        call();
        return HBF_OK;
    } catch (const hbf::sdk::Failure &failure) {
        return failure.message.empty() ? HBF_INTERNAL : failure.status; // every failure has a message
    }
}
