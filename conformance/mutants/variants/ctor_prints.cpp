// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

namespace {
__attribute__((constructor)) void start() {
    constexpr char text[] = "hello from the plugin\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(1);
}
} // namespace
