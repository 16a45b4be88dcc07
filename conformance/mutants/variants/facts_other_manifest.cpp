// SPDX-License-Identifier: Apache-2.0
// The manifest beside it speaks of another version.
#include "conformance/mutants/variants/table.hpp"

namespace {
void change(hbf_plugin &) {}
} // namespace

HBF_VARIANT_TABLE(change);
