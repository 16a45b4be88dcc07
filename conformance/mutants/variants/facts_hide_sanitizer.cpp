// SPDX-License-Identifier: Apache-2.0
// Needs what a library built with a sanitizer needs, and does not say so.
#include "conformance/mutants/variants/table.hpp"

extern "C" void __asan_init() __attribute__((weak));

namespace {
void change(hbf_plugin &table) {
    if (__asan_init) table.flags = 1; // a sanitized build of this: wrong in another way
}
} // namespace

HBF_VARIANT_TABLE(change);
