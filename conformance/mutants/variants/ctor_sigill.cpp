// SPDX-License-Identifier: Apache-2.0
// Uses an instruction that this CPU does not have as soon as it is loaded.
#include <csignal>

namespace {
__attribute__((constructor)) void start() {
    std::raise(SIGILL);
}
} // namespace
