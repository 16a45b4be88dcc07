// SPDX-License-Identifier: Apache-2.0
// For a test that one thread runs from beginning to end, among others that are about threads. The thread sanitizer has
// nothing to see in it and takes minutes for it; every other run does it whole.
#pragma once

#include <gtest/gtest.h>

#if defined(__SANITIZE_THREAD__)
#define HBF_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_THREAD_SANITIZER 1
#endif
#endif

#if defined(HBF_THREAD_SANITIZER)
#define HBF_ONE_THREAD() GTEST_SKIP() << "one thread: nothing that the thread sanitizer could see"
#else
#define HBF_ONE_THREAD() static_cast<void>(0)
#endif
