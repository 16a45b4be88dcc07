// SPDX-License-Identifier: Apache-2.0
#include <csignal>

namespace {
__attribute__((destructor)) void stop() {
    std::raise(SIGSEGV);
}
} // namespace
