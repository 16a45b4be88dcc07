// SPDX-License-Identifier: Apache-2.0
// Answers a host whose facts are smaller than the frozen minimum.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    if (!host) return nullptr;
    return HBF_ABI_VERSION >= host->abi_min && HBF_ABI_VERSION <= most ? &hbf::inject::base_table() : nullptr;
}
