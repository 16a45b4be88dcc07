// SPDX-License-Identifier: Apache-2.0
// A library such as a plugin opens: it takes memory, directly and through the C library, and starts a thread that stays.
#include <cstring>
#include <thread>

#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void *driver_takes(bool through_the_c_library) {
    void *taken = through_the_c_library ? static_cast<void *>(::strdup("a text")) : new char[32];
    asm volatile("" : "+r"(taken)); // calls, no jumps: who jumps is not on the stack
    return taken;
}

extern "C" __attribute__((visibility("default"))) void driver_starts_a_thread() {
    std::thread([] {
        for (;;) ::pause();
    }).detach();
}
