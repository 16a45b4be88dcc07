// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

namespace {
__attribute__((constructor)) void start() {
    setenv("HBF_VARIANT", "was loaded", 1);
}
} // namespace
