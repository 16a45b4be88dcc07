// SPDX-License-Identifier: Apache-2.0
// Another value in each process, for one may inherit the variable from another.
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace {
__attribute__((constructor)) void start() {
    setenv("HBF_VARIANT", std::to_string(getpid()).c_str(), 1);
}
} // namespace
