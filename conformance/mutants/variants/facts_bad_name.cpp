// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/variants/table.hpp"

namespace {
void change(hbf_plugin &table) {
    table.name = "Inject 1";
}
} // namespace

HBF_VARIANT_TABLE(change);
